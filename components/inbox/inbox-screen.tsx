"use client";

import { ArrowUp } from "lucide-react";
import { useRouter } from "next/navigation";
import { useMemo, useState } from "react";
import { Key } from "@/components/console/key";
import { useShortcuts } from "@/components/console/keyboard";
import { StaleNotice } from "@/components/console/stale-notice";
import { Unread } from "@/components/console/states";
import { Moment } from "@/components/console/time";
import { TopBar } from "@/components/shell/top-bar";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import type { InboxFacts, InboxPage } from "@/lib/protocol/console-inbox-view";
import { BulkBar } from "./bulk-bar";
import { InboxFilterBar } from "./inbox-filter-bar";
import { InboxRowLine } from "./inbox-row";
import { NothingOpen } from "./nothing-open";
import { useInboxFacts, useInboxFilters, useInboxQuery, useSteadyInbox } from "./use-inbox";

export function InboxScreen() {
  const [filters, setFilters] = useInboxFilters();
  const query = useInboxQuery(filters);
  const facts = useInboxFacts(filters);
  const pages = query.data?.pages;
  const first = pages?.[0];
  return (
    <>
      <TopBar>
        <h1>Inbox</h1>
        {facts && (
          <>
            <span className="whitespace-nowrap text-subtle-foreground">
              {facts.count}
              {facts.count_capped && "+"} open
            </span>
            {facts.due_soon > 0 && (
              <span className="whitespace-nowrap text-subtle-foreground max-md:hidden">
                · {facts.due_soon} due within 20 minutes
              </span>
            )}
          </>
        )}
      </TopBar>
      <InboxFilterBar
        filters={filters}
        onChange={(change) => void setFilters(change)}
        facts={facts}
        rows={first?.rows ?? []}
      />
      <StaleNotice what="inbox" query={query} />
      {pages && first ? (
        <InboxList
          // Other filters are another list: its layout and its selection begin anew.
          key={JSON.stringify(filters)}
          pages={pages}
          facts={facts}
          hasMore={query.hasNextPage}
          loadingMore={query.isFetchingNextPage}
          onMore={() => void query.fetchNextPage()}
          empty={
            <NothingOpen filters={filters} first={first} facts={facts} onChange={(change) => void setFilters(change)} />
          }
        />
      ) : (
        <Unread
          what="inbox"
          unknown="This says nothing about what is waiting: tickets may be open and their deadlines are running."
          query={query}
        />
      )}
    </>
  );
}

interface InboxListProps {
  readonly pages: readonly InboxPage[];
  readonly facts: InboxFacts | null;
  readonly hasMore: boolean;
  readonly loadingMore: boolean;
  readonly onMore: () => void;
  readonly empty: React.ReactNode;
}

function InboxList({ pages, facts, hasMore, loadingMore, onMore, empty }: InboxListProps) {
  const { rows, fresh, sinceMs, layOut } = useSteadyInbox(pages);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState(-1);
  const chosen = useMemo(
    () => rows.filter((it) => selected.has(it.row.ticket_id)).map((it) => it.row),
    [rows, selected],
  );
  const selectable = rows.filter((it) => !it.gone && it.row.may_decide && it.row.kind === "permission");
  const toggle = (ticketId: string, on: boolean) => setSelected((now) => withMember(now, ticketId, on));
  useRowKeys(
    rows.map((it) => it.row.ticket_id),
    active,
    setActive,
    (ticketId) => {
      if (selectable.some((it) => it.row.ticket_id === ticketId)) toggle(ticketId, !selected.has(ticketId));
    },
    layOut,
  );
  if (rows.length === 0 && fresh === 0) return empty;
  return (
    <>
      <div className="inbox flex-1" role="table" aria-label="Open tickets">
        <div role="rowgroup">
          <div role="row" className="inbox-head">
            <div role="columnheader">
              <span className="select-cell">
                <Checkbox
                  aria-label="Select all on this page"
                  checked={selected.size > 0 && selected.size === selectable.length}
                  indeterminate={selected.size > 0 && selected.size < selectable.length}
                  onChange={(event) =>
                    setSelected(new Set(event.target.checked ? selectable.map((it) => it.row.ticket_id) : []))
                  }
                />
              </span>
            </div>
            <div role="columnheader">Risk</div>
            <div role="columnheader">Action and target</div>
            <div role="columnheader">Why it asks</div>
            <div role="columnheader">Agent</div>
            <div role="columnheader" className="text-right">
              Deadline
            </div>
            <div role="columnheader" className="text-right">
              Age
            </div>
          </div>
        </div>
        <div role="rowgroup">
          {fresh > 0 && <NewRows fresh={fresh} sinceMs={sinceMs} onShow={layOut} />}
          {rows.map(({ row, gone }, index) => (
            <InboxRowLine
              key={row.ticket_id}
              row={row}
              gone={gone}
              active={index === active}
              selected={selected.has(row.ticket_id)}
              onSelect={(on) => toggle(row.ticket_id, on)}
              onFocus={() => setActive(index)}
            />
          ))}
        </div>
      </div>
      <ListFoot shown={rows.length} facts={facts} hasMore={hasMore} loadingMore={loadingMore} onMore={onMore} />
      {chosen.length > 0 && (
        <BulkBar
          rows={chosen}
          onRemove={(ticketId) => toggle(ticketId, false)}
          onClear={() => setSelected(new Set())}
        />
      )}
    </>
  );
}

function NewRows({
  fresh,
  sinceMs,
  onShow,
}: {
  readonly fresh: number;
  readonly sinceMs: number;
  readonly onShow: () => void;
}) {
  return (
    <div role="row">
      <div role="cell">
        <button type="button" className="new-rows" aria-keyshortcuts="n" onClick={onShow}>
          <ArrowUp className="icon icon-sm" aria-hidden="true" />
          {fresh} new
          <span className="font-normal text-muted-foreground">
            since <Moment atMs={sinceMs} />
          </span>
        </button>
      </div>
    </div>
  );
}

function withMember(set: ReadonlySet<string>, member: string, on: boolean): ReadonlySet<string> {
  const next = new Set(set);
  if (on) next.add(member);
  else next.delete(member);
  return next;
}

function useRowKeys(
  ticketIds: readonly string[],
  active: number,
  setActive: (index: number) => void,
  onToggle: (ticketId: string) => void,
  onShowNew: () => void,
): void {
  const router = useRouter();
  const go = (index: number) => {
    const next = Math.max(0, Math.min(ticketIds.length - 1, index));
    setActive(next);
    const link = document.querySelector<HTMLElement>(`[data-row="${ticketIds[next]}"] .row-link`);
    link?.focus({ preventScroll: true });
    link?.closest("[data-row]")?.scrollIntoView({ block: "nearest" });
  };
  const current = ticketIds[active];
  useShortcuts({
    j: () => go(active + 1),
    k: () => go(active - 1),
    x: current === undefined ? undefined : () => onToggle(current),
    n: onShowNew,
    f: () => document.querySelector<HTMLElement>("[data-filter]")?.focus(),
    Enter:
      current !== undefined && document.activeElement === document.body
        ? () => router.push(`/tickets/${current}`)
        : undefined,
  });
}

interface ListFootProps {
  readonly shown: number;
  readonly facts: InboxFacts | null;
  readonly hasMore: boolean;
  readonly loadingMore: boolean;
  readonly onMore: () => void;
}

function ListFoot({ shown, facts, hasMore, loadingMore, onMore }: ListFootProps) {
  return (
    <div className="list-foot">
      <span>
        {shown} {facts === null ? "shown" : `of ${facts.count}${facts.count_capped ? "+" : ""}`}
      </span>
      {hasMore && (
        <Button onClick={onMore} aria-disabled={loadingMore || undefined}>
          Show more
        </Button>
      )}
      <span className="ml-auto max-md:hidden">
        <Key>J</Key>
        <Key>K</Key> move
      </span>
      <span className="max-md:hidden">
        <Key>⏎</Key> open
      </span>
      <span className="max-md:hidden">
        <Key>X</Key> select
      </span>
      <span className="max-md:hidden">
        <Key>?</Key> all keys
      </span>
    </div>
  );
}
