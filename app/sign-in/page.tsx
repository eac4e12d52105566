import type { Metadata } from "next";
import { SignInScreen } from "@/components/sign-in/sign-in-screen";
import { serverSettings } from "@/lib/server/env";
import { becomeOwnerAction, openLinkAction, setPasswordAction, signInAction } from "./actions";

export const metadata: Metadata = { title: "Sign in" };
export const dynamic = "force-dynamic";

/** Opening this page signs nobody in, whatever its address says: every way in is a button that posts. */
export default async function SignInPage({
  searchParams,
}: {
  readonly searchParams: Promise<{ readonly next?: string | string[] }>;
}) {
  const { next } = await searchParams;
  return (
    <SignInScreen
      origin={serverSettings().origin}
      next={ownPath(next)}
      actions={{
        signIn: signInAction,
        openLink: openLinkAction,
        becomeOwner: becomeOwnerAction,
        setPassword: setPasswordAction,
      }}
    />
  );
}

/** Where to go afterwards: a path of ours, never another site's address. */
function ownPath(next: string | string[] | undefined): string {
  const { origin } = serverSettings();
  if (typeof next !== "string" || !next.startsWith("/") || !URL.canParse(next, origin)) return "/";
  const target = new URL(next, origin);
  return target.origin === origin ? `${target.pathname}${target.search}` : "/";
}
