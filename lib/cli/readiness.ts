import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";

const READY_MS = 60_000;
const health = z.object({ boot_id: z.string() });

/**
 * Wait until this start's own web server answers and says that the database and a worker are there.
 *
 * The boot id tells our server from any other that might answer on the port.
 */
export async function waitUntilReady(base: string, bootId: string, stop: AbortSignal): Promise<void> {
  const giveUpAt = Date.now() + READY_MS;
  let last = "nothing answered";
  while (Date.now() < giveUpAt) {
    stop.throwIfAborted();
    last = await look(base, bootId);
    if (last === "ready") return;
    await sleep(100);
  }
  throw new Error(
    `The console was not ready within ${READY_MS / 1000} s: ${last}. ` +
      "Look at the lines above; if the machine is merely slow, start again: nothing is lost.",
  );
}

async function look(base: string, bootId: string): Promise<string> {
  try {
    const alive = health.safeParse(await (await fetch(`${base}/healthz`, timeout())).json());
    if (!alive.success) return "another program answers on the port";
    if (alive.data.boot_id !== bootId) return "another Holdpoint answers on the port";
    const ready = await fetch(`${base}/readyz`, timeout());
    return ready.ok ? "ready" : (await ready.text()).slice(0, 500);
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

function timeout(): RequestInit {
  return { signal: AbortSignal.timeout(5_000), redirect: "error" };
}
