"use client";

import { createContext, type ReactNode, useCallback, useContext, useState } from "react";

const Announce = createContext<(words: string) => void>(() => undefined);

/** The one polite live region of the console: what changed without a page changing is also said. */
export function LiveRegion({ children }: { readonly children: ReactNode }) {
  const [words, setWords] = useState("");
  const announce = useCallback((next: string) => {
    // Emptied first, so that the same words are said again.
    setWords("");
    setTimeout(() => setWords(next), 30);
  }, []);
  return (
    <Announce.Provider value={announce}>
      {children}
      <div role="status" aria-live="polite" className="sr-only" data-live-region="">
        {words}
      </div>
    </Announce.Provider>
  );
}

export function useAnnounce(): (words: string) => void {
  return useContext(Announce);
}
