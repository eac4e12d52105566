"use client";

import { Bot, Gauge, MessageCircleQuestionMark, SquareFunction } from "lucide-react";
import { Filter } from "@/components/console/filter";
import { RemoveDemo } from "@/components/console/remove-demo";
import { RISKS } from "@/lib/protocol/call";
import type { InboxFacts, InboxRow } from "@/lib/protocol/console-inbox-view";
import type { InboxFilters } from "./use-inbox";

export type FilterChange = Partial<{ readonly [Name in keyof InboxFilters]: InboxFilters[Name] | null }>;

interface InboxFilterBarProps {
  readonly filters: InboxFilters;
  readonly onChange: (change: FilterChange) => void;
  readonly facts: InboxFacts | null;
  readonly rows: readonly InboxRow[];
}

const RISK_WORDS = { low: "Low", medium: "Medium", high: "High" } as const;
const KIND_WORDS = { permission: "Permission", question: "Question", pause: "Pause" } as const;

export function InboxFilterBar({ filters, onChange, facts, rows }: InboxFilterBarProps) {
  const quoted = (values: readonly string[]) => values.map((value) => ({ value, label: value, quoted: true }));
  return (
    <section className="filterbar" aria-label="Filters">
      <button
        type="button"
        className="chip"
        aria-pressed={filters.who === "mine"}
        onClick={() => onChange({ who: null })}
      >
        I may decide
      </button>
      <button
        type="button"
        className="chip"
        aria-pressed={filters.who === "everyone"}
        onClick={() => onChange({ who: "everyone" })}
      >
        Everyone’s
      </button>
      <span className="rule" aria-hidden="true" />
      <Filter
        icon={Bot}
        name="Agent"
        value={filters.agent}
        choices={quoted(facts?.agents ?? [])}
        onChange={(agent) => onChange({ agent })}
      />
      <Filter
        icon={SquareFunction}
        name="Action"
        value={filters.action}
        choices={quoted(facts?.actions ?? [])}
        onChange={(action) => onChange({ action })}
      />
      <Filter
        icon={Gauge}
        name="Risk"
        value={filters.risk}
        choices={[...RISKS].reverse().map((value) => ({ value, label: RISK_WORDS[value] }))}
        onChange={(risk) => onChange({ risk: RISKS.find((it) => it === risk) ?? null })}
      />
      <Filter
        icon={MessageCircleQuestionMark}
        name="Kind"
        value={filters.kind}
        choices={(["permission", "question", "pause"] as const).map((value) => ({ value, label: KIND_WORDS[value] }))}
        onChange={(kind) =>
          onChange({ kind: (["permission", "question", "pause"] as const).find((it) => it === kind) ?? null })
        }
      />
      <RemoveDemo rows={rows} />
    </section>
  );
}
