/** A time limit on something under way, which an outer signal may end before. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether the time was over, rather than that the outer signal came. */
  isOver(): boolean;
  /** Count from now again. */
  restart(): void;
  /** What was under way has ended: no timer and no listener stays. */
  leave(): void;
}

/**
 * Built from a timer and a listener: Node 20 may collect an `AbortSignal.timeout` that only an `AbortSignal.any` holds, and then the
 * limit never comes (nodejs/node#57736).
 */
export function deadline(limitMs: number, outer: AbortSignal): Deadline {
  const controller = new AbortController();
  let late = false;
  const over = () => {
    late = !outer.aborted;
    controller.abort();
  };
  let timer = setTimeout(over, limitMs);
  const stop = () => controller.abort();
  if (outer.aborted) stop();
  outer.addEventListener("abort", stop, { once: true });
  return {
    signal: controller.signal,
    isOver: () => late,
    restart: () => {
      clearTimeout(timer);
      if (!controller.signal.aborted) timer = setTimeout(over, limitMs);
    },
    leave: () => {
      clearTimeout(timer);
      outer.removeEventListener("abort", stop);
    },
  };
}
