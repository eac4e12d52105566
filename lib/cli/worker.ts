import { runWorker } from "@/lib/runtime/worker";
import { readSettings } from "./env";
import { reachOf } from "./reach";
import { report, reportFailure } from "./terminal";

const GRACE_MS = 5_000;

/** The worker's process: it works until it is told to stop, or until the supervisor that forked it is gone. */
const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT", "disconnect"] as const) process.once(signal, () => stop.abort(signal));

// Without its supervisor it may finish what it holds, not more: the next start has a worker of its own.
process.once("disconnect", () => setTimeout(() => process.exit(1), GRACE_MS).unref());

const settings = readSettings(process.cwd());
if (settings.databaseUrl === null) {
  report("The worker needs DATABASE_URL. npm start sets it for the worker that it starts.");
  process.exit(1);
}

try {
  await runWorker({
    databaseUrl: settings.databaseUrl,
    ...reachOf(settings),
    models: { settings: settings.model, scripts: {}, recording: null },
    stop: stop.signal,
    failpoint: settings.failpoint,
    onNotice: report,
    onError: reportFailure,
  });
  // Whatever still holds the event loop is not work: the work has returned.
  process.exit(0);
} catch (cause) {
  reportFailure(cause, "The worker failed: ");
  process.exit(1);
}
