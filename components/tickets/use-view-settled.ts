"use client";

import { useEffect, useState } from "react";

/** A ticket must have been on screen for this long, and the window in front, before a gesture may decide it. */
export const READING_MS = 400;

/** False for the first moments of a view, and again whenever the window comes back: a click meant for what was there before decides nothing. */
export function useViewSettled(viewKey: string): boolean {
  const [settledKey, setSettledKey] = useState<string | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const restart = () => {
      clearTimeout(timer);
      setSettledKey(null);
      if (document.visibilityState === "visible") timer = setTimeout(() => setSettledKey(viewKey), READING_MS);
    };
    restart();
    window.addEventListener("focus", restart);
    document.addEventListener("visibilitychange", restart);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("focus", restart);
      document.removeEventListener("visibilitychange", restart);
    };
  }, [viewKey]);
  return settledKey === viewKey;
}
