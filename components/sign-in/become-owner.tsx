import { PASSWORD_LENGTH, type SignInAnswer } from "@/lib/protocol/sign-in";
import { Field, SignInForm, textOf } from "./sign-in-form";

interface BecomeOwnerProps {
  readonly onSubmit: (who: { email: string; name: string; password: string }) => Promise<SignInAnswer>;
  readonly onDone: () => void;
}

/** The first owner's link names nobody: its bearer says who they are. */
export function BecomeOwner({ onSubmit, onDone }: BecomeOwnerProps) {
  return (
    <SignInForm
      title="Become the owner"
      lead="You are the first person here. Your name stands on every decision you make."
      button="Become the owner"
      onSubmit={(fields) =>
        onSubmit({ email: textOf(fields, "email"), name: textOf(fields, "name"), password: textOf(fields, "password") })
      }
      onDone={onDone}
    >
      <Field label="E-mail" name="email" type="email" autoComplete="username" />
      <Field label="Name" name="name" type="text" autoComplete="name" />
      <Field
        label="Password"
        name="password"
        type="password"
        autoComplete="new-password"
        minLength={PASSWORD_LENGTH.least}
        hint={`At least ${PASSWORD_LENGTH.least} characters`}
      />
    </SignInForm>
  );
}
