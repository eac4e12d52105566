import { z } from "zod";
import { SURFACES } from "../principal";
import { instant, json, sha256 } from "./parts";
import { runStateAnswer } from "./runs";
import { decisionAnswer, ticketAnswer } from "./tickets";

/** Everything on record about one run, in one file: what `holdpoint verify FILE` checks without a database. */
export const bundleAnswer = z.strictObject({
  v: z.literal(1),
  kind: z.literal("bundle"),
  workspace_id: z.string(),
  run_id: z.string(),
  run: runStateAnswer,
  tickets: z.array(ticketAnswer),
  proposals: z.array(
    z.strictObject({
      call_ref: z.string(),
      action: z.string(),
      args: json,
      output: json,
      proposal_hash: sha256,
      approval_hash: sha256.nullable(),
      approval_request_id: z.string().nullable(),
    }),
  ),
  decisions: z.array(decisionAnswer),
  refusals: z.array(
    z.strictObject({
      code: z.string(),
      verb: z.string(),
      actor: z.string(),
      surface: z.enum(SURFACES),
      at: instant,
      seq: z.int().optional(),
    }),
  ),
  /** Each event's canonical text and its hash. */
  trace: z.array(z.strictObject({ text: z.string(), hash: sha256 })),
});
