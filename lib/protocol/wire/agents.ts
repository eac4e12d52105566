import { z } from "zod";
import { actionName, json, sha256, textOf } from "./parts";

/** One tool of an agent's catalogue, as the model is shown it. */
export const tool = z.strictObject({
  name: actionName,
  description: z.string().optional(),
  input_schema: json.optional(),
  annotations: json.optional(),
});

/** POST /agents/{name}/snapshots: freeze a definition with its tools. The same content returns the same id. */
export const snapshotBody = z.strictObject({
  provider: textOf(1, 256).optional(),
  model: textOf(1, 256).optional(),
  mcp_servers: json.optional(),
  tools: z.array(tool).max(1_000),
  build: textOf(1, 256).optional(),
  /** Makes it an agent that runs here. Its shape is `lib/protocol/agent-definition`'s to judge. */
  definition: json.optional().meta({
    description:
      "Makes it an agent that runs here: `controller` (react, plan_and_execute, workflow), `instructions`, and where wanted `budget`, `on_budget` (end, pause), `batch_mode`, `coupling`, `resume_modes`, `delegates`, `needs_object`; a workflow also has its `nodes`, each a `tool`, an `ask`, a `model` or a `finish`.",
  }),
});
export type SnapshotBody = z.output<typeof snapshotBody>;

export const snapshotAnswer = z.strictObject({ snapshot_id: z.string(), catalog_fingerprint: sha256 });
export type SnapshotAnswer = z.output<typeof snapshotAnswer>;

export const agentName = textOf(1, 128);
