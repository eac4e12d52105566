/**
 * The statements that read a run's book, as text that is put together once: they are the hottest of all, and a driver that
 * assembles them anew at every verb costs more than running them does.
 *
 * Parameters, the same in each: $1 workspace, $2 what names the run, $3 a named call or null, $4 a named step or null.
 */
export interface BookQueries {
  /** The run, never a ticket: two decisions on one run, or a decision and a cancel, must stand in one queue. */
  readonly lockRun: string;
  readonly lookAtRun: string;
  /** $3 is the caller's person here. Read behind the lock: clock, trace head, rights, and the rules that judge the run's agent. */
  readonly clock: string;
  readonly batches: string;
  readonly calls: string;
  readonly tickets: string;
}

export type NamedBy = "run" | "ticket" | "internal";

/** The run's internal id, as a subquery: every statement of the flight finds it by itself. */
const RUN_ID: Readonly<Record<NamedBy, string>> = {
  internal: "$2::uuid",
  run: "(select id from runs where workspace_id = $1 and run_id = $2)",
  ticket: "(select run from tickets where workspace_id = $1 and id = $2::uuid)",
};

export const BOOK_QUERIES: Readonly<Record<NamedBy, BookQueries>> = {
  run: bookQueries("run"),
  ticket: bookQueries("ticket"),
  internal: bookQueries("internal"),
};

function bookQueries(by: NamedBy): BookQueries {
  const run = RUN_ID[by];
  const visible = visibleCalls(by);
  const theRun = `
    select r.id, r.workspace_id, r.run_id, r.agent_id, a.name as agent, r.thread_id, r.snapshot_id,
      s.catalog_fingerprint, s.catalog <> '[]' as has_catalog, r.executor, r.principal_id,
      p.person_id as opened_by_person, p.owner_person_id as key_owner, r.on_behalf_of, r.origin,
      coalesce(parent.cause is not null, false) as parent_ended,
      r.cause, r.cause_code, r.ended_by, r.ended_at, r.last_seen_at
    from runs r
    join agents a on a.workspace_id = r.workspace_id and a.id = r.agent_id
    join agent_snapshots s on s.workspace_id = r.workspace_id and s.snapshot_id = r.snapshot_id
    join principals p on p.workspace_id = r.workspace_id and p.id = r.principal_id
    left join runs parent on parent.workspace_id = r.workspace_id and parent.id = r.parent_run
    where r.workspace_id = $1 and r.id = ${run}`;
  return {
    lockRun: `${theRun} for no key update of r`,
    lookAtRun: theRun,
    clock: clockQuery(run),
    batches: `
      select b.step, b.mode, b.coupling, b.content_hash, b.state_sha256 from batches b
      where b.workspace_id = $1 and b.run = ${run} and b.step in (select c.step from calls c where ${visible})`,
    calls: callsQuery(visible),
    tickets: ticketsQuery(by, run, visible),
  };
}

/** The calls that a verb sees: whole batches that have something unfinished, and what it names. */
function visibleCalls(by: NamedBy): string {
  const run = RUN_ID[by];
  const ofTicket =
    by === "ticket" ? "or c.call_ref = (select call_ref from tickets where workspace_id = $1 and id = $2::uuid)" : "";
  return `c.workspace_id = $1 and c.run = ${run} and (
    c.step in (select step from calls where workspace_id = $1 and run = ${run} and status <> 'completed')
    or c.step = $4::int
    or c.call_ref = $3::text or c.call_id = $3::text
    or c.step = (select step from calls where workspace_id = $1 and run = ${run} and call_ref = $3::text)
    ${ofTicket})`;
}

function clockQuery(run: string): string {
  return `
    select clock_timestamp() as at, coalesce(last.seq, 0) as seq, last.hash,
      coalesce((select max(step) from batches where workspace_id = $1 and run = ${run}), 0) as highest,
      m.role, w.suspended_at is not null as suspended, w.settings,
      v.policy_id, v.version as policy_version, v.document as policy_document
    from workspaces w
    left join members m on m.workspace_id = w.id and m.person_id = $3::uuid and m.disabled_at is null
    left join lateral (
      select seq, hash from trace_events where workspace_id = $1 and run = ${run} order by seq desc limit 1
    ) last on true
    left join runs r on r.workspace_id = w.id and r.id = ${run}
    left join policies p on p.workspace_id = r.workspace_id and p.agent_id = r.agent_id
    left join policy_versions v on v.workspace_id = p.workspace_id and v.policy_id = p.id and v.version = p.current_version
    where w.id = $1`;
}

function callsQuery(visible: string): string {
  return `
    select c.call_ref, c.step, c.batch_index, c.edit_no, c.call_id, c.action, c.args, c.target, c.proposal_hash, c.mcp_server,
      c.why, c.declared_class, c.effective_class, c.resume_mode, c.on_deny, c.wait_terms, c.rule_id, c.policy_version, c.status,
      c.outcome, c.outcome_cause, c.attempt, c.unreported, c.claim_key, c.claim_token, c.claimed_by, c.claim_job, c.lease_until,
      c.effect_key, c.authorised_by, c.approval_request_id, c.approval_hash, c.authorised_at, c.allow_valid_until, c.note,
      c.result, c.error, c.late, c.settled_by, c.evidence, c.rebound_from, c.ended_at,
      d.effective_at,
      case when d.verdict = 'allow' and d.voided_at is null and d.undone_at is null then d.approval_hash end as decided_hash,
      d.person_id is null or m.person_id is not null as approver_may
    from calls c
    left join tickets t on c.authorised_by = 'person' and t.workspace_id = c.workspace_id
      and t.correlation_id = c.approval_request_id
    left join decisions d on d.workspace_id = t.workspace_id and d.ticket_id = t.id
    left join members m on m.workspace_id = c.workspace_id and m.person_id = d.person_id and m.disabled_at is null
      and m.role in ('approver', 'owner')
    where ${visible}`;
}

function ticketsQuery(by: NamedBy, run: string, visible: string): string {
  const named = by === "ticket" ? "or t.id = $2::uuid" : "";
  return `
    select t.id, t.correlation_id, t.call_ref, t.target_kind, t.target_reason, t.tool_id, t.snapshot_id, t.catalog_fingerprint,
      t.delegation_origin, t.revision, t.status, t.supersedes, s.id as successor, t.opened_at, t.deadline_ms, t.expired_at,
      t.on_expiry, t.allow_valid_ms, t.undo_ms, t.quorum_needed, t.prompt, t.schema, t.options, t.risk, t.on_deny, t.rule_id,
      t.rule_version, t.closed_by_kind, t.closed_by_actor, t.closed_by_verdict, t.closed_at
    from tickets t
    left join tickets s on s.workspace_id = t.workspace_id and s.supersedes = t.id
    where t.workspace_id = $1 and t.run = ${run}
      and (t.status = 'open' ${named} or t.call_ref in (select c.call_ref from calls c where ${visible}))`;
}
