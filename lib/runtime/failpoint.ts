/**
 * Named places where a test may have this process killed, as a power cut would. `null` in production: nothing is checked there
 * but one comparison.
 */
export type Failpoint = "after_claim" | "before_effect" | "after_effect" | "before_commit" | "after_commit";

export type FailAt = (point: Failpoint) => void;

/** Kill at the n-th passing of the named point; `name:n`, as `HOLDPOINT_FAILPOINT` spells it. */
export function killAt(setting: string | null): FailAt {
  if (setting === null) return () => undefined;
  const [name, count] = setting.split(":");
  let left = Number(count ?? "1");
  return (point) => {
    if (point !== name) return;
    left -= 1;
    if (left <= 0) process.kill(process.pid, "SIGKILL");
  };
}
