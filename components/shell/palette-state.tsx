"use client";

import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { isInField } from "@/components/console/keyboard";

export type Overlay = "palette" | "keys" | null;

interface PaletteState {
  readonly overlay: Overlay;
  readonly open: (overlay: Exclude<Overlay, null>) => void;
  readonly close: () => void;
}

const Palette = createContext<PaletteState>({ overlay: null, open: () => undefined, close: () => undefined });

/** ⌘K from anywhere, also from a field; `?` from anywhere but a field. */
export function PaletteProvider({ children }: { readonly children: ReactNode }) {
  const [overlay, setOverlay] = useState<Overlay>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setOverlay("palette");
      } else if (event.key === "?" && !isInField(event.target)) {
        event.preventDefault();
        setOverlay("keys");
      }
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
  const state = useMemo(() => ({ overlay, open: setOverlay, close: () => setOverlay(null) }), [overlay]);
  return <Palette.Provider value={state}>{children}</Palette.Provider>;
}

export function usePalette(): PaletteState {
  return useContext(Palette);
}
