"use client";

import { type FormEvent, type ReactNode, useId, useRef, useState } from "react";
import { Advice } from "@/components/console/advice";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import type { ShownRefusal } from "@/lib/protocol/console-view";

type Outcome = { readonly ok: true } | { readonly ok: false; readonly refusal: ShownRefusal };

interface SignInFormProps {
  readonly title: string;
  readonly lead: string;
  readonly button: string;
  readonly onSubmit: (fields: FormData) => Promise<Outcome>;
  readonly onDone?: () => void;
  readonly children?: ReactNode;
}

const UNANSWERED: ShownRefusal = {
  code: "unanswered",
  title: "The server did not answer",
  advice: "Check the connection, then press the button again.",
  facts: {},
};

/** One step of signing in: a heading, a few fields, one button, and what went wrong where a screen reader hears it. */
export function SignInForm({ title, lead, button, onSubmit, onDone, children }: SignInFormProps) {
  const [refusal, setRefusal] = useState<ShownRefusal | null>(null);
  const [busy, setBusy] = useState(false);
  // State follows a drawing; a second press in the same instant must be stopped by something that does not.
  const sending = useRef(false);
  const problem = useId();

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (sending.current) return;
    sending.current = true;
    setBusy(true);
    setRefusal(null);
    const outcome = await onSubmit(new FormData(event.currentTarget)).catch(() => ({
      ok: false as const,
      refusal: UNANSWERED,
    }));
    sending.current = false;
    setBusy(false);
    if (outcome.ok) onDone?.();
    else setRefusal(outcome.refusal);
  };

  return (
    <>
      <h1 className="mt-7 text-title font-semibold tracking-[-0.01em]">{title}</h1>
      <p className="mt-1 text-muted-foreground">{lead}</p>
      <form
        className="mt-6 grid gap-3"
        method="post"
        onSubmit={(event) => void submit(event)}
        aria-describedby={problem}
      >
        {children}
        <div id={problem} role="alert" className="empty:hidden">
          {refusal !== null && (
            <p>
              <strong className="font-medium text-bad">{refusal.title}.</strong> <Advice words={refusal.advice} />
            </p>
          )}
        </div>
        <Button look="primary" type="submit" className="w-full" aria-disabled={busy}>
          {button}
        </Button>
      </form>
    </>
  );
}

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly type: "email" | "password" | "text";
  readonly autoComplete: string;
  readonly minLength?: number;
  readonly hint?: string;
}

export function Field({ label, hint, ...input }: FieldProps) {
  const id = useId();
  return (
    <div className="grid gap-1.5">
      <label className="font-medium" htmlFor={id}>
        {label}
      </label>
      <Input
        {...input}
        id={id}
        required
        maxLength={254}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      {hint !== undefined && (
        <span id={`${id}-hint`} className="text-meta text-muted-foreground">
          {hint}
        </span>
      )}
    </div>
  );
}

/** A field's text; a form in the page cannot hold a file under these names. */
export function textOf(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value : "";
}
