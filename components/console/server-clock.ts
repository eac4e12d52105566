"use client";

import { useSyncExternalStore } from "react";

/**
 * Countdowns and ages run on the server's clock: every answer carries it, and the difference to this machine's clock is kept here.
 * The earliest arrival wins: a slow answer makes the server look late.
 */
let aheadMs: number | null = null;

export function noteServerClock(nowMs: number): void {
  const ahead = nowMs - Date.now();
  aheadMs = aheadMs === null || ahead > aheadMs || Math.abs(ahead - aheadMs) > 5_000 ? ahead : aheadMs;
}

export function serverNow(): number {
  return Date.now() + (aheadMs ?? 0);
}

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const notify of listeners) notify();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };
}

function wholeSecond(): number {
  return Math.floor(serverNow() / 1_000) * 1_000;
}

/** The server's clock in whole seconds; the component is drawn again when it changes. */
export function useServerSecond(): number {
  return useSyncExternalStore(subscribe, wholeSecond, () => 0);
}
