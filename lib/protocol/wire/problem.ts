import { z } from "zod";
import { REFUSALS } from "../refusals";

/** RFC 9457 `application/problem+json`; the code's own facts stand beside these. */
export const problem = z
  .object({
    type: z.string(),
    status: z.int(),
    code: z.string(),
    title: z.string(),
    detail: z.string().optional(),
    advice: z.string().optional(),
    path: z.string().optional(),
    run_id: z.string().optional(),
    /** The event that recorded the refusal. */
    trace_seq: z.int().optional(),
    /** Of an unexpected fault: what to name when asking about it. */
    incident: z.string().optional(),
  })
  .loose()
  .meta({ description: `code is one of: ${Object.keys(REFUSALS).join(", ")}, internal_error` });
