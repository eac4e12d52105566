import type { Listener } from "@/db/notifier";

export interface Wakes {
  /** Until the run changed, or so many milliseconds have passed, or the caller went away. */
  wait(ms: number): Promise<void>;
  stop(): void;
}

/** Wakes whoever waits for one run. A change between two waits is kept, so that none is slept through. */
export function nextChange(
  changes: Pick<Listener, "subscribe">,
  workspace: string,
  run: string,
  signal: AbortSignal,
): Wakes {
  let pending = false;
  let wake: (() => void) | null = null;
  const onChange = () => {
    pending = true;
    wake?.();
  };
  const unsubscribe = changes.subscribe((change) => {
    // `null`: something may have been missed, so look.
    if (change === null || (change.workspace === workspace && change.runs.includes(run))) onChange();
  });
  signal.addEventListener("abort", onChange);
  return {
    wait: (ms) =>
      new Promise((resolve) => {
        const over = () => {
          clearTimeout(timer);
          wake = null;
          pending = false;
          resolve();
        };
        const timer = setTimeout(over, ms);
        if (pending) over();
        else wake = over;
      }),
    stop: () => {
      unsubscribe();
      signal.removeEventListener("abort", onChange);
      wake?.();
    },
  };
}
