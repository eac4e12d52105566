"use client";

import { ShieldCheck } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Logo } from "@/components/shell/logo";
import type { SignInActions } from "@/lib/protocol/sign-in";
import { BecomeOwner } from "./become-owner";
import { OpenLink } from "./open-link";
import { PasswordSignIn } from "./password-sign-in";
import { SetPassword } from "./set-password";

type Step = { readonly at: "password" } | { readonly at: "link" | "owner" | "new_password"; readonly token: string };

interface SignInScreenProps {
  readonly origin: string;
  /** A path of ours to go to afterwards. */
  readonly next: string;
  readonly actions: SignInActions;
}

/** Sign-in: by e-mail and password, or by the one-time link whose token stands behind the # of the address. */
export function SignInScreen({ origin, next, actions }: SignInScreenProps) {
  const [step, setStep] = useState<Step>({ at: "password" });
  useEffect(() => {
    const read = () => {
      const token = window.location.hash.slice(1);
      if (token !== "") setStep({ at: "link", token });
    };
    read();
    window.addEventListener("hashchange", read);
    return () => window.removeEventListener("hashchange", read);
  }, []);

  // A full load: nothing that was read before signing in may stay in memory.
  const done = () => window.location.assign(next);
  /** The token is used up, or about to be: it need not stay in the address bar and the history. */
  const hideToken = () => window.history.replaceState(null, "", window.location.pathname + window.location.search);

  const openLink = async (token: string) => {
    const answer = await actions.openLink({ token });
    if (answer.ok) {
      hideToken();
      setStep({ at: answer.next === "say_who_you_are" ? "owner" : "new_password", token });
    }
    return answer;
  };

  return (
    <Frame origin={origin}>
      {step.at === "password" && <PasswordSignIn onSignIn={actions.signIn} onDone={done} />}
      {step.at === "link" && <OpenLink onOpen={() => openLink(step.token)} />}
      {step.at === "owner" && (
        <BecomeOwner onSubmit={(who) => actions.becomeOwner({ token: step.token, ...who })} onDone={done} />
      )}
      {step.at === "new_password" && (
        <SetPassword onSubmit={(password) => actions.setPassword({ token: step.token, password })} onDone={done} />
      )}
    </Frame>
  );
}

function Frame({ origin, children }: { readonly origin: string; readonly children: ReactNode }) {
  return (
    <main id="main" className="flex min-h-dvh flex-col">
      <div className="grid flex-1 place-items-center px-4 py-10">
        <div className="w-full max-w-[336px]">
          <p className="flex items-center gap-2.5 font-semibold">
            <Logo />
            Holdpoint
          </p>
          {children}
          <p className="mt-6 flex gap-2 border-t border-border pt-5 text-muted-foreground">
            <ShieldCheck className="icon mt-0.5 h-4 w-4 shrink-0 text-subtle-foreground" aria-hidden="true" />
            <span>A sign-in link opens this page and asks you to press a button. No link ever decides a ticket.</span>
          </p>
        </div>
      </div>
      <footer className="flex flex-wrap justify-between gap-x-6 gap-y-1 border-t border-border px-5 py-3 text-meta text-subtle-foreground">
        <span className="font-mono">{origin}</span>
        <span>Check this address before you sign in</span>
      </footer>
    </main>
  );
}
