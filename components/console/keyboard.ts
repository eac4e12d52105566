"use client";

import { useEffect, useRef } from "react";

/** An act that answers `false` leaves the key to whoever else listens. */
export type Shortcuts = Readonly<Record<string, (() => unknown) | undefined>>;

/**
 * Single keys of a page. A held key counts once; keys are off inside fields, with a modifier, and while a dialog or menu is open.
 */
export function useShortcuts(shortcuts: Shortcuts, enabled = true): void {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  useEffect(() => {
    if (!enabled) return undefined;
    const press = (event: KeyboardEvent) => {
      if (event.repeat || event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
      if (isInField(event.target) || isOverlayOpen()) return;
      const act = current.current[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (act !== undefined && act() !== false) event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [enabled]);
}

/** A dialog or menu on its way out stays in the document for some frames, with focus in it; the next key is already the page's. */
const LEAVING = "[data-closed]";

export function isInField(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null &&
    target.closest(LEAVING) === null
  );
}

export function isOverlayOpen(): boolean {
  return document.querySelector(`:is([role="dialog"], [role="menu"]):not(${LEAVING})`) !== null;
}
