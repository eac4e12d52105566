import { readReadiness } from "@/db/queries/readiness";
import { database } from "@/lib/server/database";

export const dynamic = "force-dynamic";

/** Readiness: the database answers, its schema is this build's, and a worker was seen. */
export async function GET(): Promise<Response> {
  const state = await database().then(readReadiness, () => ({ database: false, migrations: false, worker: false }));
  const ready = state.database && state.migrations && state.worker;
  return Response.json(
    { status: ready ? "ready" : "not ready", ...state },
    { status: ready ? 200 : 503, headers: { "cache-control": "no-store" } },
  );
}
