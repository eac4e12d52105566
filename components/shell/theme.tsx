"use client";

import { ThemeProvider } from "next-themes";
import type { ReactNode } from "react";

/** System, light or dark, kept in this browser. The stylesheet says which scheme each class has, so no style attribute is set. */
export function Theme({ nonce, children }: { readonly nonce: string; readonly children: ReactNode }) {
  return (
    <ThemeProvider
      attribute="class"
      defaultTheme="system"
      enableColorScheme={false}
      disableTransitionOnChange
      nonce={nonce}
    >
      {children}
    </ThemeProvider>
  );
}
