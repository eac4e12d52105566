import type { ReactNode } from "react";

/** A key cap. Hidden from assistive technology: `aria-keyshortcuts` on the control says it there, and names stay plain. */
export function Key({ children }: { readonly children: ReactNode }) {
  return (
    <span className="key" aria-hidden="true">
      {children}
    </span>
  );
}
