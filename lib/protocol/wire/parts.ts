import { z } from "zod";
import { IDEMPOTENCY_CLASSES, ON_DENY, ON_EXPIRY, RESUME_MODES, RISKS } from "../call";
import { ARGS_LIMITS, checkLimits, type JsonValue } from "../canonical-json";
import { isSha256, type Sha256 } from "../hash";

/** The parts that requests and answers are made of. Source: http-api "Conventions". */

export const RUN_ID_PATTERN = /^[A-Za-z0-9._:~-]{1,128}$/;
/** More is no batch but a flood. Source: protocol §2. */
export const MAX_CALLS = 200;
/** Of one request, in bytes. Source: protocol §2. */
export const MAX_BODY_BYTES = 1_048_576;
/** Of an agent's own saved state, in bytes. */
export const MAX_STATE_BYTES = 33_554_432;

export const runId = z.string().regex(RUN_ID_PATTERN).meta({ description: "1–128 of A–Z a–z 0–9 . _ : ~ -" });

/** A column of text cannot hold U+0000. Arguments can: they are kept as JSON text, where it is an escape. */
const NO_NUL = { error: "U+0000 cannot stand here" };

/** Text of any length that the body's own limit allows. */
export const plainText = z.string().refine((text) => !text.includes("\0"), NO_NUL);

/** Text of so many code points; a code unit count would cut an emoji in two. */
export function textOf(min: number, max: number) {
  return plainText
    .refine((text) => [...text].length >= min && [...text].length <= max, { error: `${min} to ${max} characters` })
    .meta({ minLength: min, maxLength: max });
}

export const callId = textOf(1, 256).meta({ description: "The agent's own word for the call; need not be unique." });
export const actionName = textOf(1, 256).meta({ description: "The tool's name." });
export const words = textOf(1, 10_000);

/**
 * Any JSON, kept without loss: a large integer as a `bigint`, objects without prototype.
 * Each place has the limits of a call's arguments, counted from itself.
 */
export const json = z
  .custom<JsonValue>((value) => value !== undefined, { error: "any JSON value, but it must be given" })
  .superRefine((value, context) => {
    const judged = checkLimits(value, ARGS_LIMITS, "");
    if (judged.ok) return;
    const { code, path, detail } = judged.refusal;
    context.addIssue({
      code: "custom",
      message: detail,
      params: { code, inside: path === "" || path.startsWith("[") ? path : `.${path}` },
    });
  })
  .meta({ description: "Any JSON value." });

export const sha256 = z
  .custom<Sha256>((value) => typeof value === "string" && isSha256(value), { error: "64 lowercase hex digits" })
  .meta({ type: "string", pattern: "^[0-9a-f]{64}$" });

/** The database counts steps and events in 32 bits, and an ask takes the step after the last one. */
const MOST_STEP = 1_000_000_000;
/** The last event that a run could have. */
export const MOST_SEQ = 2_147_483_647;
/** The last millisecond of the year 9999: RFC 3339 knows years of four digits. */
const LATEST_MS = 253_402_300_799_999;
/** Of an id in a path, in code points: no id of ours is longer, and an index could not hold it. */
export const LONGEST_ID = 256;

export const step = z.int().min(1).meta({ description: "From 1; may leave gaps, never goes back." });
export const proposedStep = step.max(MOST_STEP);
export const epochMs = z.int().min(0).max(LATEST_MS);
export const durationMs = z.int().min(1).max(31_536_000_000);
/** How long an attempt may stay silent. Source: http-api begin. */
export const leaseMs = z.int().min(1_000).max(3_600_000);
export const workerId = textOf(1, 128).meta({ description: "A random id of the process start." });

/** A deadline as a time or as a duration; giving both is a contradiction. */
export const deadline = { deadline_ms: epochMs.optional(), deadline_in_ms: durationMs.optional() };

export function oneDeadline(body: { deadline_ms?: number | undefined; deadline_in_ms?: number | undefined }): boolean {
  return body.deadline_ms === undefined || body.deadline_in_ms === undefined;
}
export const ONE_DEADLINE = { error: "deadline_ms or deadline_in_ms, not both", path: ["deadline_in_ms"] };

const stateFacts = { format: textOf(1, 128), version: textOf(1, 128), sha256 };
/** A saved state that the agent keeps; only its hash and where it lies are recorded. */
export const stateRef = z.strictObject({ ...stateFacts, ref: textOf(1, 2_000) });
/** A saved state that was put here before the step. */
export const stateUpload = z.strictObject(stateFacts);
export const savedState = { state: stateRef.optional(), state_upload: stateUpload.optional() };

export function oneState(body: { state?: unknown; state_upload?: unknown }): boolean {
  return body.state === undefined || body.state_upload === undefined;
}
export const ONE_STATE = { error: "state or state_upload, not both", path: ["state_upload"] };

export const MESSAGE_ROLES = ["system", "user", "assistant", "tool"] as const;
export const message = z.strictObject({ id: textOf(1, 256), role: z.enum(MESSAGE_ROLES), text: plainText });
export const messages = z.array(message).max(1_000).optional();

export const effectClass = z.enum(IDEMPOTENCY_CLASSES);
export const risk = z.enum(RISKS);
export const onExpiry = z.enum(ON_EXPIRY);
export const onDeny = z.enum(ON_DENY);
export const resumeMode = z.enum(RESUME_MODES);

/** RFC 3339, UTC. */
export const instant = z.string().meta({ format: "date-time" });
