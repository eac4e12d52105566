import { publishSnapshot } from "@/db/store/snapshots";
import type { JsonValue } from "@/lib/protocol/canonical-json";
import { refusalAt } from "@/lib/protocol/refusals";
import { agentName, type SnapshotBody, snapshotAnswer, snapshotBody } from "@/lib/protocol/wire/agents";
import { ok, refuse } from "@/lib/result";
import { defineDoor } from "../door";
import { present } from "../problem";

export const publishSnapshotDoor = defineDoor<SnapshotBody>({
  method: "POST",
  path: "/api/v1/agents/{name}/snapshots",
  summary: "Freeze an agent's definition with its tools. The same content returns the same id.",
  verb: "publish_snapshot",
  repeats: "stored",
  body: snapshotBody,
  answer: snapshotAnswer,
  statuses: [201, 200],
  open: async ({ scope, caller, params, body }) => {
    const name = agentName.safeParse(params.name);
    if (!name.success) return refuse(refusalAt("invalid_body", "name", "an agent's name has 1 to 128 characters"));
    const done = await publishSnapshot(scope, caller, name.data, {
      provider: body.provider ?? null,
      model: body.model ?? null,
      mcpServers: body.mcp_servers ?? null,
      tools: body.tools.map(toolJson),
      build: body.build ?? null,
      ...present({ definition: body.definition }),
    });
    if (!done.ok) return done;
    const { snapshotId, catalogFingerprint, known } = done.value;
    const json = { snapshot_id: snapshotId, catalog_fingerprint: catalogFingerprint };
    return ok({ status: known ? 200 : 201, json });
  },
});

/** Only what was sent: a field that is absent must not change the catalogue's hash. */
function toolJson(tool: SnapshotBody["tools"][number]): { readonly name: string; readonly [field: string]: JsonValue } {
  return { ...present(tool), name: tool.name };
}
