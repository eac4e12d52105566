import { may } from "@/lib/protocol/may";
import { refusal } from "@/lib/protocol/refusals";
import { callerOf } from "./key";
import { problemOf } from "./problem";
import type { Services } from "./services";

/**
 * Prometheus text, with an operator key. No exception for callers on the same machine: behind a proxy everyone is one, and the header that
 * would tell them apart is written by the caller.
 */
export async function serveMetrics(request: Request, { db, metrics }: Services): Promise<Response> {
  const caller = await callerOf(db, request.headers.get("authorization"));
  if (!caller) return problemOf(refusal("unauthenticated"));
  if (may(caller, "read_metrics") === "no") return problemOf(refusal("not_permitted"));
  return new Response(await metrics.registry.metrics(), {
    headers: { "content-type": metrics.registry.contentType, "cache-control": "no-store" },
  });
}
