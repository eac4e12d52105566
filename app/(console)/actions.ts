"use server";

import { z } from "zod";
import { removeDemo } from "@/db/store/demo";
import { cancelJob, interruptMailbox, requeueJob } from "@/db/store/mailbox/operate";
import { cancel, cancelCall, replace, settle } from "@/db/store/operate";
import { talk } from "@/db/store/talk";
import { canonicalJson, readJson } from "@/lib/protocol/canonical-json";
import type { Job } from "@/lib/protocol/mailbox-job";
import { type Refusal, refusal } from "@/lib/protocol/refusals";
import { words } from "@/lib/protocol/wire/parts";
import { ok, type Result, refuse } from "@/lib/result";

import { guardedAction, openAction } from "@/lib/server/action";
import { decideFromConsole, decideManyFromConsole } from "@/lib/server/console-decisions";
import { startFromConsole } from "@/lib/server/console-start";
import { database } from "@/lib/server/database";
import { signOut } from "@/lib/server/sign-in";

const ticketId = z.uuid();
const runId = z.string().min(1).max(128);
const reason = z.string().trim().min(1).max(4_000);
const DONE = ok({ successor_ticket_id: null });
const shown = {
  ticket_id: ticketId,
  view_digest: z.string().max(64),
  view_token: z.string().max(100),
  click_id: z.uuid(),
};

/*
 * Every member may knock: who may decide what is the store's to judge, and a refusal of it is kept in the trace.
 * None of these draws a page again: the answer is data, and the stream says what changed.
 */

export const decideAction = guardedAction(
  {
    verb: "read_tickets",
    input: z.strictObject({
      ...shown,
      verdict: z.enum(["allow", "deny", "answer", "continue"]),
      reason: reason.nullable(),
      answer: z.string().max(1_048_576).nullable(),
    }),
  },
  decideFromConsole,
);

export const decideManyAction = guardedAction(
  {
    verb: "read_tickets",
    input: z.strictObject({
      items: z.array(z.strictObject(shown)).min(1).max(100),
      verdict: z.enum(["allow", "deny"]),
      reason: reason.nullable(),
    }),
  },
  async (caller, request) => ok(await decideManyFromConsole(caller, request)),
);

export const cancelCallAction = guardedAction(
  { verb: "read_tickets", input: z.strictObject({ ticket_id: ticketId, reason }) },
  async (caller, request) => {
    const outcome = await cancelCall(await database(), caller, request.ticket_id, request.reason);
    return outcome.ok ? DONE : outcome;
  },
);

export const replaceTicketAction = guardedAction(
  {
    verb: "read_tickets",
    input: z.strictObject({
      ticket_id: ticketId,
      reason,
      deadline_in_ms: z
        .int()
        .min(1_000)
        .max(31 * 86_400_000)
        .nullable(),
    }),
  },
  async (caller, request) => {
    const outcome = await replace(await database(), caller, request.ticket_id, request.reason, request.deadline_in_ms);
    return outcome.ok ? ok({ successor_ticket_id: outcome.value.value.id }) : outcome;
  },
);

export const cancelRunAction = guardedAction(
  { verb: "read_run", input: z.strictObject({ run_id: runId, reason }) },
  async (caller, request) => {
    const outcome = await cancel(await database(), caller, request.run_id, request.reason);
    return outcome.ok ? DONE : outcome;
  },
);

export const settleCallAction = guardedAction(
  {
    verb: "read_run",
    input: z.strictObject({
      run_id: runId,
      call_ref: z.string().min(1).max(64),
      verdict: z.enum(["happened", "did_not_happen"]),
      evidence: reason,
      output: z.string().max(262_144).nullable(),
    }),
  },
  async (caller, { run_id, call_ref, verdict, evidence, output }) => {
    const read = readJson(output ?? "null");
    if (!read.ok) return refuse(refusal("invalid_body"));
    const outcome = await settle(await database(), caller, run_id, call_ref, {
      verdict,
      evidence,
      output: output === null ? null : canonicalJson(read.value),
    });
    return outcome.ok ? DONE : outcome;
  },
);

/** The browser names the run, so that a press that got no answer can be pressed again and starts nothing twice. */
export const startRunAction = guardedAction(
  { verb: "read_run", input: z.strictObject({ run_id: z.uuid(), agent: z.string().min(1).max(128), message: words }) },
  startFromConsole,
);

export const talkAction = guardedAction(
  { verb: "read_run", input: z.strictObject({ run_id: runId, message_id: z.uuid(), text: words }) },
  async (caller, { run_id, message_id, text }) => {
    const outcome = await talk(await database(), caller, run_id, { id: message_id, text });
    return outcome.ok ? ok({ added: outcome.value.value.added }) : outcome;
  },
);

const theJob = z.strictObject({ job_id: z.uuid(), reason });

export const requeueJobAction = guardedAction({ verb: "read_jobs", input: theJob }, async (caller, request) =>
  movedJob(await requeueJob(await database(), caller, request.job_id, request.reason)),
);

export const cancelJobAction = guardedAction({ verb: "read_jobs", input: theJob }, async (caller, request) =>
  movedJob(await cancelJob(await database(), caller, request.job_id, request.reason)),
);

/** A list is a moment old: where a worker was faster the job stays as it is, and whoever pressed is told. */
function movedJob(outcome: Result<Job | null, Refusal>) {
  if (!outcome.ok) return outcome;
  if (outcome.value !== null) return DONE;
  return refuse(refusal("stale_view", {}, "the job has moved on"));
}

export const interruptMailboxAction = guardedAction(
  { verb: "read_jobs", input: z.strictObject({ mailbox_id: z.string().min(1).max(128), reason }) },
  async (caller, request) => {
    const outcome = await interruptMailbox(await database(), caller, request.mailbox_id, request.reason);
    return outcome.ok ? DONE : outcome;
  },
);

export const removeDemoAction = guardedAction({ verb: "read_run", input: z.null() }, async (caller) =>
  removeDemo(await database(), caller),
);

export const signOutAction = openAction({ name: "sign_out", input: z.null() }, async () => {
  await signOut();
  return ok({});
});
