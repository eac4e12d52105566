import { z } from "zod";
import { PRINCIPAL_KINDS } from "../principal";
import { TRACE_TYPES } from "../trace-event";
import { instant, json, sha256 } from "./parts";

/** An event with its hash: without `hash`, in canonical form, it hashes to it. */
export const traceEventAnswer = z.strictObject({
  v: z.literal(1),
  kind: z.literal("trace"),
  workspace_id: z.string(),
  run_id: z.string(),
  seq: z.int().min(1),
  type: z.enum(TRACE_TYPES),
  at: instant,
  actor: z.strictObject({ kind: z.enum(PRINCIPAL_KINDS), id: z.string(), name: z.string() }),
  payload: json,
  prev_hash: sha256,
  hash: sha256,
});

export const tracePageAnswer = z.strictObject({
  events: z.array(traceEventAnswer),
  next_cursor: z.string().nullable(),
});
