import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Make sure that the port can be had before anything dear is done.
 *
 * The web server of a killed start leaves within moments; it is given three seconds.
 */
export async function requireFreePort(port: number, host: string): Promise<void> {
  const giveUpAt = Date.now() + 3_000;
  for (;;) {
    const refusal = await tryPort(port, host);
    if (refusal === null) return;
    if (refusal === "EACCES") throw new Error(`This account may not use port ${port}. Start with another: PORT=3000.`);
    if (refusal !== "EADDRINUSE") throw new Error(`HOLDPOINT_HOST=${host} is no address of this machine (${refusal}).`);
    if (Date.now() > giveUpAt) {
      throw new Error(
        `Port ${port} is in use by another program (perhaps another Holdpoint). ` +
          `Stop that one, or start with another port, for example PORT=${port === 65_535 ? 3000 : port + 1}.`,
      );
    }
    await sleep(100);
  }
}

function tryPort(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (cause) => resolve("code" in cause ? String(cause.code) : cause.message));
    probe.listen(port, host, () => probe.close(() => resolve(null)));
  });
}
