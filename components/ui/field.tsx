"use client";

import { type ReactNode, useId } from "react";

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly children: (id: string) => ReactNode;
}

/** A label above its field. */
export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="font-medium">
        {label} {hint && <span className="font-normal text-muted-foreground">{hint}</span>}
      </label>
      {children(id)}
    </div>
  );
}
