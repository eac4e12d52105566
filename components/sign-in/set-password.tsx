import { Button } from "@/components/ui/button";
import { PASSWORD_LENGTH, type SignInAnswer } from "@/lib/protocol/sign-in";
import { Field, SignInForm, textOf } from "./sign-in-form";

interface SetPasswordProps {
  readonly onSubmit: (password: string) => Promise<SignInAnswer>;
  readonly onDone: () => void;
}

/** After a link: a password for the next time. Setting it ends the person's other sessions. */
export function SetPassword({ onSubmit, onDone }: SetPasswordProps) {
  return (
    <>
      <SignInForm
        title="You are signed in"
        lead="Set a password for the next time. It ends your sessions on other devices."
        button="Set password"
        onSubmit={(fields) => onSubmit(textOf(fields, "password"))}
        onDone={onDone}
      >
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="new-password"
          minLength={PASSWORD_LENGTH.least}
          hint={`At least ${PASSWORD_LENGTH.least} characters`}
        />
      </SignInForm>
      <Button look="quiet" className="mt-2 w-full" onClick={onDone}>
        Go on without one
      </Button>
    </>
  );
}
