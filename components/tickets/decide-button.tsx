"use client";

import type { LucideIcon } from "lucide-react";
import { type KeyboardEvent, type MouseEvent, type PointerEvent, useRef } from "react";
import { Key } from "@/components/console/key";
import { Button } from "@/components/ui/button";

interface DecideButtonProps {
  readonly icon: LucideIcon;
  readonly iconClass?: string;
  readonly label: string;
  readonly keyCap?: string;
  readonly primary?: boolean;
  /** Why it is off; the button stays reachable and says so. */
  readonly off: string | null;
  readonly describedBy?: string;
  /** Identifies what is on screen: a press that began on another view is not this one's. */
  readonly viewKey: string;
  readonly onDecide: () => void;
}

/**
 * A button whose press decides. A held key counts once, the second half of a double click is nothing, and the view must be
 * the same when the press ends as when it began.
 */
export function DecideButton({
  icon: Icon,
  iconClass,
  label,
  keyCap,
  primary = false,
  off,
  describedBy,
  viewKey,
  onDecide,
}: DecideButtonProps) {
  const pressed = useRef<string | null>(null);
  const begin = (event: PointerEvent) => {
    pressed.current = event.isPrimary ? viewKey : null;
  };
  const hold = (event: KeyboardEvent) => {
    if (event.repeat) event.preventDefault();
  };
  const end = (event: MouseEvent) => {
    const byKeyboard = event.detail === 0;
    const began = pressed.current;
    pressed.current = null;
    if (off !== null || event.detail > 1) return;
    if (byKeyboard || began === viewKey) onDecide();
  };
  return (
    <Button
      look={primary ? "primary" : "plain"}
      size="decide"
      aria-disabled={off !== null || undefined}
      aria-describedby={off === null ? undefined : describedBy}
      aria-keyshortcuts={keyCap?.length === 1 ? keyCap.toLowerCase() : undefined}
      onPointerDown={begin}
      onKeyDown={hold}
      onClick={end}
    >
      <Icon className={`icon ${iconClass ?? ""}`} aria-hidden="true" />
      {label}
      {keyCap && <Key>{keyCap}</Key>}
    </Button>
  );
}
