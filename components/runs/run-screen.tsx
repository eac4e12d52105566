"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { ReactNode } from "react";
import { CopyButton } from "@/components/console/copy-button";
import { ShortHash } from "@/components/console/hash";
import { Quoted } from "@/components/console/pieces";
import { readConsole } from "@/components/console/read";
import { Sentence } from "@/components/console/sentence";
import { useServerSecond } from "@/components/console/server-clock";
import { StaleNotice } from "@/components/console/stale-notice";
import { NoSuch, Unread } from "@/components/console/states";
import { Status, TONE_CLASS } from "@/components/console/status";
import { runLook } from "@/components/console/status-table";
import { Moment } from "@/components/console/time";
import { Crumb, TopBar } from "@/components/shell/top-bar";
import { TraceSection } from "@/components/trace/trace-section";
import type { RunPage } from "@/lib/protocol/console-run-view";
import { drawnAsText } from "@/lib/protocol/hidden-characters";
import { judgeRun } from "@/lib/protocol/verdict";
import { BatchTables } from "./batch-tables";
import { DelegatedRuns, WorksFor } from "./relatives";
import { RunActions } from "./run-actions";
import { Thread } from "./thread";
import { verdictIcon } from "./verdict-icon";

export function useRunQuery(runId: string) {
  return useQuery({
    queryKey: ["run", runId, "page"],
    queryFn: ({ signal }) => readConsole<RunPage>(`/console/runs/${encodeURIComponent(runId)}`, signal),
  });
}

export function RunScreen({ runId }: { readonly runId: string }) {
  const query = useRunQuery(runId);
  const page = query.data;
  return (
    <>
      <RunTopBar runId={runId} page={page ?? null} />
      <StaleNotice what="run" query={query} />
      {page ? (
        <RunBody page={page} stale={query.isError} />
      ) : (
        <Unread
          what="run"
          unknown="This says nothing about whether it moves."
          query={query}
          dense
          missing={<NoSuch what="run" list="runs" />}
        />
      )}
    </>
  );
}

export function RunTopBar({
  runId,
  page,
  children,
}: {
  readonly runId: string;
  readonly page: RunPage | null;
  readonly children?: ReactNode;
}) {
  return (
    <TopBar>
      <Crumb to="Runs" />
      {children ?? (
        <h1 className="mono" title={drawnAsText(runId)}>
          <Quoted text={runId} />
        </h1>
      )}
      <CopyButton text={runId} label="Copy run id" />
      {page && (
        <span className="max-md:hidden">
          <Status look={runLook(page.facts.state, page.facts.cause)} />
        </span>
      )}
    </TopBar>
  );
}

function RunBody({ page, stale }: { readonly page: RunPage; readonly stale: boolean }) {
  return (
    <>
      <VerdictSection page={page} />
      <DelegatedRuns runs={page.children} inAll={page.children_in_all} />
      <BatchTables page={page} />
      <Thread messages={page.messages} />
      <TraceSection runId={page.run_id} workspaceId={page.workspace_id} refusals={page.refusals} told={stale} />
    </>
  );
}

function VerdictSection({ page }: { readonly page: RunPage }) {
  const now = useServerSecond();
  const verdict = judgeRun(page.facts, now);
  const Icon = verdict.kind === "ended" ? runLook(page.facts.state, page.facts.cause).icon : verdictIcon(verdict.kind);
  return (
    <section className="px-[var(--gutter)] py-5" aria-labelledby="why">
      <h2 className={`small-head mb-2 ${TONE_CLASS[verdict.tone]}`} id="why">
        <span className="status">
          <Icon className="icon icon-sm" aria-hidden="true" />
          {verdict.moving ? "Where it stands" : "Why it is not moving"}
        </span>
      </h2>
      <p className="verdict">
        <Sentence parts={verdict.sentence} />
        {verdict.step && (
          <>
            {" "}
            <b>One safe step:</b> <Sentence parts={verdict.step} />
          </>
        )}
      </p>
      <RunActions page={page} verdict={verdict} />
      <dl className="run-facts mt-4">
        <Fact name="Agent">
          <Quoted text={page.facts.agent} />
        </Fact>
        {page.works_for && (
          <Fact name="Works for">
            <WorksFor call={page.works_for} />
          </Fact>
        )}
        <Fact name="Executor">{page.facts.executor}</Fact>
        <Fact name="Thread">
          <Link className="mono text-link" href={`/threads/${encodeURIComponent(page.thread_id)}`}>
            <ThreadId id={page.thread_id} />
          </Link>
        </Fact>
        <Fact name="Snapshot">
          <span className="mono">
            {page.snapshot_id.length > 20 ? <ShortHash value={page.snapshot_id} /> : <Quoted text={page.snapshot_id} />}
          </span>
        </Fact>
        <Fact name="Started">
          <Moment atMs={page.facts.created_ms} />
        </Fact>
        {page.facts.last_seen_ms !== null && (
          <Fact name="Agent seen">
            <Moment atMs={page.facts.last_seen_ms} />
          </Fact>
        )}
        {page.rejected_signals > 0 && <Fact name="Refused signals">{page.rejected_signals}</Fact>}
      </dl>
    </section>
  );
}

/** An agent chooses its thread's id, so even its ends are quoted. */
function ThreadId({ id }: { readonly id: string }) {
  if (id.length <= 24) return <Quoted text={id} />;
  return (
    <span title={drawnAsText(id)}>
      <Quoted text={id.slice(0, 8)} />
      <span className="text-subtle-foreground">…</span>
      <Quoted text={id.slice(-4)} />
    </span>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
