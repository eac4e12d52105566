import type { OpenLinkAnswer } from "@/lib/protocol/sign-in";
import { SignInForm } from "./sign-in-form";

/** The link's button. Opening the address did nothing yet: a preview or a scanner must not use the link up. */
export function OpenLink({ onOpen }: { readonly onOpen: () => Promise<OpenLinkAnswer> }) {
  return (
    <SignInForm
      title="Sign in by your link"
      lead="The link works once, within 24 hours of when it was made."
      button="Sign in"
      onSubmit={onOpen}
    />
  );
}
