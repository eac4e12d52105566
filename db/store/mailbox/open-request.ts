import { inWorkspaceByKey, type Scope, type Tx } from "@/db/client";
import { addMessages, type Message } from "@/db/store/messages";
import { openRun } from "@/db/store/open-run";
import type { Refused } from "@/db/store/refuse";
import { stored } from "@/lib/protocol/book/stored";
import { isArray, isObject } from "@/lib/protocol/canonical-json";
import type { JobClaim } from "@/lib/protocol/mailbox-job";
import type { Caller, PrincipalKind } from "@/lib/protocol/principal";
import { refusalAt } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";
import { underClaim } from "./rows";

/** A request as the mailbox holds it. */
interface RequestRow {
  readonly agent: string | null;
  readonly mailboxId: string;
  readonly run: string | null;
  readonly messages: string | null;
  readonly origin: "User" | "A2A" | "Internal";
  readonly principal: string | null;
  readonly kind: PrincipalKind | null;
  readonly display: string | null;
  readonly person: string | null;
  /** The member whom the request says it is from. */
  readonly sender: string | null;
}

/**
 * Open the run that a request asks for, under the claim of the worker that delivers it: the run, its messages on the mailbox's
 * thread and its first look, with the request's origin, commit together. It belongs to whoever has the agent's name. A request whose
 * run is open already stays as it is, so that a second delivery opens nothing.
 * Refused: what opening a run refuses; null when the claim is another's by now.
 */
export async function openRequested(
  scope: Scope,
  workspace: string,
  claim: JobClaim,
): Promise<Result<"opened" | "known", Refused | ReturnType<typeof refusalAt>> | null> {
  return inWorkspaceByKey(scope, workspace, async (tx) => {
    const request = await readRequest(tx, claim);
    if (request === null) return null;
    if (request.run !== null) return ok("known");
    const { agent, principal, kind } = request;
    if (agent === null || principal === null || kind === null)
      return refuse(refusalAt("invalid_body", "agent", "a request that is worked on here names an agent"));
    const owner: Caller = {
      workspace,
      principal,
      kind,
      role: null,
      person: request.person,
      display: request.display ?? "",
      surface: "worker",
      credential: null,
    };
    const said = saidIn(request.messages);
    const taken = await takenId(tx, request.mailboxId, said);
    if (taken !== null)
      return refuse(refusalAt("invalid_body", "messages", `the thread has another message of the id ${taken}`));
    const opened = await openRun(tx, owner, {
      runId: `request-${claim.jobId}`,
      agent,
      snapshotId: null,
      mustRunHere: true,
      threadId: request.mailboxId,
      input: null,
      executor: "worker",
      // Whoever asked may not approve what is done for it. A sender that is nobody's name here is a word of the caller's.
      onBehalfOf: request.sender,
      parent: null,
      origin: request.origin,
    });
    if (!opened.ok) return opened;
    await addMessages(tx, opened.value.threadId, said);
    // Its row is ours since it was read: a lease that ends meanwhile must not leave the run without its request.
    await tx.sql`update jobs set run = ${opened.value.id} where workspace_id = ${tx.workspace} and job_id = ${claim.jobId}`;
    return ok("opened");
  });
}

/** Under its claim, with its mailbox held against an interrupt: one that comes now finds the run, and ends it. */
async function readRequest(tx: Tx, claim: JobClaim): Promise<RequestRow | null> {
  await tx.sql`
    select from mailboxes where workspace_id = ${tx.workspace}
      and mailbox_id = (select mailbox_id from jobs where workspace_id = ${tx.workspace} and job_id = ${claim.jobId})
    for share`;
  const [row] = await tx.sql<RequestRow[]>`
    select a.name as agent, jobs.mailbox_id, jobs.run, jobs.messages, jobs.origin, p.id as principal, p.kind, p.name as display,
      p.person_id as person,
      (select s.id::text from people s join members m on m.person_id = s.id and m.workspace_id = jobs.workspace_id
        where s.id::text = jobs.sender_id or s.email = jobs.sender_id::citext limit 1) as sender
    from jobs
    left join agents a on a.workspace_id = jobs.workspace_id and a.id = jobs.agent_id
    left join principals p on p.workspace_id = a.workspace_id and p.id = a.owner_principal_id
    where jobs.workspace_id = ${tx.workspace} and jobs.job_id = (select job_id from jobs where ${underClaim(tx, claim)} for update)`;
  return row ?? null;
}

/** A message that is sent again is the same one; another text under its id would be lost without a word. Null: none is. */
async function takenId(tx: Tx, threadId: string, said: readonly Message[]): Promise<string | null> {
  for (const { id, role, text } of said) {
    const [other] = await tx.sql`
      select from messages where workspace_id = ${tx.workspace} and thread_id = ${threadId} and source_id = ${id}
        and (role, content) <> (${role}, ${text})`;
    if (other) return id.slice(SAID.length);
  }
  return null;
}

const SAID = "said:";

/** Ids as a person's later message has them, so that nobody's message can take the place of one of the runtime's. */
function saidIn(messages: string | null): readonly Message[] {
  const read = messages === null ? [] : stored(messages);
  if (!isArray(read)) throw new Error("a request's messages are no list");
  return read.map((said) => {
    if (
      !isObject(said) ||
      typeof said.id !== "string" ||
      typeof said.role !== "string" ||
      typeof said.text !== "string"
    )
      throw new Error("a request's message is none");
    return { id: `${SAID}${said.id}`, role: said.role, text: said.text };
  });
}
