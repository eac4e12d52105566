"use client";

import { createContext, type ReactNode, useContext } from "react";
import type { Reader } from "@/lib/protocol/console-view";

const ReaderContext = createContext<Reader | null>(null);

export function ReaderProvider({ reader, children }: { readonly reader: Reader; readonly children: ReactNode }) {
  return <ReaderContext.Provider value={reader}>{children}</ReaderContext.Provider>;
}

/** Who is looking, and in which workspace. */
export function useReader(): Reader {
  const reader = useContext(ReaderContext);
  if (reader === null) throw new Error("The reader is provided by the console's layout.");
  return reader;
}
