"use client";

import { Inbox, ListFilter, Users, X } from "lucide-react";
import { Quoted } from "@/components/console/pieces";
import { State } from "@/components/console/states";
import { Moment } from "@/components/console/time";
import { useReader } from "@/components/shell/reader";
import { Button } from "@/components/ui/button";
import type { InboxFacts, InboxPage } from "@/lib/protocol/console-inbox-view";
import type { FilterChange } from "./inbox-filter-bar";
import type { InboxFilters } from "./use-inbox";

const CLEARED: FilterChange = { agent: null, action: null, risk: null, kind: null };

interface NothingOpenProps {
  readonly filters: InboxFilters;
  readonly first: InboxPage;
  readonly facts: InboxFacts | null;
  readonly onChange: (change: FilterChange) => void;
}

/** A query that answered, with no rows: by its filters, or because nothing waits. */
export function NothingOpen({ filters, first, facts, onChange }: NothingOpenProps) {
  const { workspace } = useReader();
  const set = (["kind", "risk", "agent", "action"] as const).filter((name) => filters[name] !== null);
  if (set.length > 0) {
    return (
      <State
        icon={ListFilter}
        tone="off"
        title={<Quoted text={`No ticket matches ${set.map((name) => `${name} ${filters[name]}`).join(", ")}`} />}
        actions={
          <Button onClick={() => onChange(CLEARED)}>
            <X className="icon icon-sm" aria-hidden="true" />
            {set.length === 1 ? "Clear the filter" : `Clear ${set.length} filters`}
          </Button>
        }
      >
        {facts && (
          <p>
            {facts.open_in_all === 0
              ? "Nothing is open."
              : `${facts.open_in_all} ${facts.open_in_all === 1 ? "ticket is" : "tickets are"} open in all.`}
          </p>
        )}
      </State>
    );
  }
  const mine = filters.who === "mine";
  return (
    <State
      icon={Inbox}
      tone="off"
      title={mine ? "Nothing is waiting for you" : "Nothing is waiting"}
      actions={
        mine &&
        facts !== null &&
        facts.open_in_all > 0 && (
          <Button onClick={() => onChange({ who: "everyone" })}>
            <Users className="icon icon-sm" aria-hidden="true" />
            Everyone’s open tickets
          </Button>
        )
      }
    >
      <p>
        No open ticket in {workspace}
        {mine && " that you may decide"}, read from committed rows at <Moment atMs={first.now_ms} />. A new one appears
        here within a second.
      </p>
    </State>
  );
}
