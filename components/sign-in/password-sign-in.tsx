import type { SignInActions } from "@/lib/protocol/sign-in";
import { Field, SignInForm, textOf } from "./sign-in-form";

interface PasswordSignInProps {
  readonly onSignIn: SignInActions["signIn"];
  readonly onDone: () => void;
}

export function PasswordSignIn({ onSignIn, onDone }: PasswordSignInProps) {
  return (
    <SignInForm
      title="Sign in"
      lead="Every decision you make here carries your name."
      button="Sign in"
      onSubmit={(fields) => onSignIn({ email: textOf(fields, "email"), password: textOf(fields, "password") })}
      onDone={onDone}
    >
      <Field label="E-mail" name="email" type="email" autoComplete="username" />
      <Field label="Password" name="password" type="password" autoComplete="current-password" />
    </SignInForm>
  );
}
