"use client";

import { useQuery } from "@tanstack/react-query";
import { Bot } from "lucide-react";
import { Quoted } from "@/components/console/pieces";
import { readConsole } from "@/components/console/read";
import { StaleNotice } from "@/components/console/stale-notice";
import { State, Unread } from "@/components/console/states";
import { Ago } from "@/components/console/time";
import { useReader } from "@/components/shell/reader";
import { TopBar } from "@/components/shell/top-bar";
import type { AgentRow, AgentsPage } from "@/lib/protocol/console-thread-view";
import { drawnAsText } from "@/lib/protocol/hidden-characters";
import { StartRun, WhoDecides } from "./start-run";

export function AgentsScreen() {
  const { role } = useReader();
  const query = useQuery({
    queryKey: ["agents"],
    enabled: role !== "approver",
    queryFn: ({ signal }) => readConsole<AgentsPage>("/console/agents", signal),
  });
  const page = query.data;
  return (
    <>
      <TopBar>
        <h1>Agents</h1>
        {page && <span className="whitespace-nowrap text-subtle-foreground">{countOf(page)}</span>}
      </TopBar>
      {role === "approver" ? (
        <State icon={Bot} tone="off" title="Operators and owners start agents">
          <p>Your role decides what they ask for; that waits in the inbox.</p>
        </State>
      ) : (
        <>
          <StaleNotice what="list of agents" query={query} />
          {page ? (
            <AgentsBody page={page} />
          ) : (
            <Unread what="agents" unknown="This says nothing about which agents there are." query={query} dense />
          )}
        </>
      )}
    </>
  );
}

function countOf({ rows, agents_in_all }: AgentsPage): string {
  return rows.length < agents_in_all ? `the first ${rows.length} of ${agents_in_all}` : `${agents_in_all} in all`;
}

function AgentsBody({ page }: { readonly page: AgentsPage }) {
  const startable = page.rows.filter((row) => row.startable);
  if (page.rows.length === 0) {
    return (
      <State icon={Bot} tone="off" title="No agent yet">
        <p>An agent appears here when it is published, or opens its first run.</p>
      </State>
    );
  }
  return (
    <>
      {startable.length > 0 ? (
        <StartRun agents={startable} othersMayDecide={page.others_may_decide} />
      ) : (
        <div className="grid max-w-[884px] gap-2 px-[var(--gutter)] py-5 text-muted-foreground">
          <p>
            No agent here is yours to start. A name belongs to whoever used it first; an agent is started here when it
            runs here and its name is yours: publish it with your personal key, by{" "}
            <code>POST /api/v1/agents/NAME/snapshots</code> with a definition.
          </p>
          <WhoDecides others={page.others_may_decide} />
        </div>
      )}
      <AgentsTable rows={page.rows} />
    </>
  );
}

function AgentsTable({ rows }: { readonly rows: readonly AgentRow[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard.
    <section className="scroll-x flex-1 border-t border-border" aria-label="Agents table" tabIndex={0}>
      <table className="data-table roomy stack-md agents-table">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Controller</th>
            <th scope="col">Model</th>
            <th scope="col" className="num">
              Tools
            </th>
            <th scope="col">Last run</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <AgentLine key={row.name} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function AgentLine({ row: { name, is_demo, here, startable, last_run_ms } }: { readonly row: AgentRow }) {
  return (
    <tr>
      <td>
        <span
          className="inline-block max-w-[min(32ch,52vw)] overflow-hidden text-ellipsis align-bottom"
          title={drawnAsText(name)}
        >
          <Quoted text={name} />
        </span>
        {is_demo && <span className="flag flag-outline tone-off ml-2">Demo</span>}
      </td>
      <td className="edge text-muted-foreground">
        {here === null ? "Does not run here" : <span className="mono">{here.controller}</span>}
        {here !== null && !startable && <span className="text-subtle-foreground"> · its name is somebody else’s</span>}
      </td>
      <td className="fill text-muted-foreground">
        {here === null ? (
          "–"
        ) : (
          <>
            <Quoted text={here.model ?? "no model"} />
            {here.provider !== null && (
              <span className="text-subtle-foreground">
                {" "}
                <Quoted text={here.provider} />
              </span>
            )}
          </>
        )}
      </td>
      <td className="num text-muted-foreground max-md:hidden">{here === null ? "–" : here.tools}</td>
      <td className="edge text-subtle-foreground">{last_run_ms === null ? "never" : <Ago atMs={last_run_ms} />}</td>
    </tr>
  );
}
