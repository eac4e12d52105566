/**
 * Runs once when the web server starts. The supervisor forks it with a channel; when that closes, the
 * supervisor is gone, and a server without one must not hold the port or answer for the next start.
 */
export function register(): void {
  // By way of globalThis: Next also compiles this file for its edge runtime, where nothing of ours runs.
  const { process } = globalThis;
  process.once("disconnect", () => process.exit(1));
}
