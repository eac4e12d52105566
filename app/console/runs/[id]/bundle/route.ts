import { services } from "@/lib/server/api";
import { bundleDoor } from "@/lib/server/api/doors/bundle";
import { guarded, problem } from "@/lib/server/console-route";

/** The same file as the API's, made by the same door, for somebody who is signed in. */
export const GET = guarded<{ readonly id: string }>("read_bundle", async (caller, { id }, request) => {
  const own = await services();
  const answer = await bundleDoor.open({
    db: own.db,
    scope: own.db,
    services: own,
    caller,
    request,
    params: { run_id: id },
    query: new URLSearchParams(),
    body: undefined,
    raw: new Uint8Array(),
    bodySha256: "",
    stillCalls: async () => true,
  });
  if (answer instanceof Response) return answer;
  return problem(answer.ok ? "unknown_run" : answer.refusal.code);
});
