import { putState, readState } from "@/db/store/states";
import { isSha256 } from "@/lib/protocol/hash";
import { refusalAt } from "@/lib/protocol/refusals";
import { MAX_STATE_BYTES } from "@/lib/protocol/wire/parts";
import { boundStateAnswer } from "@/lib/protocol/wire/runs";
import { ok, refuse } from "@/lib/result";
import { defineDoor } from "../door";

export const putStateDoor = defineDoor({
  method: "PUT",
  path: "/api/v1/runs/{run_id}/states/{sha256}",
  summary: "Upload the agent's saved state under its own hash, before the step that binds it. At most 32 MiB.",
  verb: "put_state",
  repeats: "none",
  rawBody: MAX_STATE_BYTES,
  statuses: [204],
  open: async ({ scope, caller, params, raw }) => {
    const sha256 = params.sha256 ?? "";
    if (!isSha256(sha256)) return refuse(refusalAt("invalid_body", "sha256", "64 lowercase hex digits"));
    const done = await putState(scope, caller, params.run_id ?? "", sha256, raw);
    return done.ok ? ok({ status: 204, json: null }) : done;
  },
});

export const readStateDoor = defineDoor({
  method: "GET",
  path: "/api/v1/runs/{run_id}/state",
  summary:
    "The state last bound, after its hash was checked: its bytes, or where the agent keeps it. 204 when there is none.",
  verb: "read_state",
  repeats: "none",
  answer: boundStateAnswer,
  statuses: [200, 204],
  open: async ({ scope, caller, params }) => {
    const done = await readState(scope, caller, params.run_id ?? "");
    if (!done.ok) return done;
    const state = done.value.value;
    if (!state) return ok({ status: 204, json: null });
    const { sha256, format, version, bytes, ref } = state;
    if (!bytes) return ok({ status: 200, json: { sha256, format, version, ref } });
    return new Response(Uint8Array.from(bytes), {
      status: 200,
      headers: {
        // Never rendered: what an agent saved is bytes to a browser, whatever it holds.
        "content-type": "application/octet-stream",
        "content-disposition": "attachment",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        etag: `"${sha256}"`,
      },
    });
  },
});
