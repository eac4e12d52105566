"use client";

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { useMemo, useState } from "react";
import { pathWith, readConsole } from "@/components/console/read";
import { serverNow } from "@/components/console/server-clock";
import { RISKS } from "@/lib/protocol/call";
import type { InboxFacts, InboxPage, InboxRow } from "@/lib/protocol/console-inbox-view";
import { extendLayout, type SteadyRow, steadyRows } from "./steady-rows";

const FILTERS = {
  who: parseAsStringLiteral(["mine", "everyone"]).withDefault("mine"),
  agent: parseAsString,
  action: parseAsString,
  risk: parseAsStringLiteral(RISKS),
  kind: parseAsStringLiteral(["permission", "question", "pause"]),
};

/** The list's whole state is in its URL. */
export function useInboxFilters() {
  return useQueryStates(FILTERS, { history: "replace" });
}

export type InboxFilters = ReturnType<typeof useInboxFilters>[0];

export function useInboxQuery(filters: InboxFilters) {
  const query = { ...filters };
  return useInfiniteQuery({
    queryKey: ["inbox", "rows", query],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      readConsole<InboxPage>(pathWith("/console/inbox", { ...query, cursor: pageParam }), signal),
    getNextPageParam: (page) => page.next_cursor,
  });
}

/** Counts and the filters' choices. Null while unknown: a failed count never looks like none. */
export function useInboxFacts(filters: InboxFilters): InboxFacts | null {
  const query = { ...filters };
  const facts = useQuery({
    queryKey: ["inbox", "facts", query],
    queryFn: ({ signal }) => readConsole<InboxFacts>(pathWith("/console/inbox/facts", query), signal),
  });
  return facts.isError ? null : (facts.data ?? null);
}

interface Layout {
  readonly rows: readonly InboxRow[];
  readonly pages: number;
  readonly sinceMs: number;
}

export interface SteadyInbox {
  readonly rows: readonly SteadyRow[];
  readonly fresh: number;
  /** When the list was last laid out. */
  readonly sinceMs: number;
  readonly layOut: () => void;
}

/** The list as it stands, and how many rows wait above it. Mounted anew for other filters. */
export function useSteadyInbox(pages: readonly InboxPage[]): SteadyInbox {
  const committed = useMemo(() => pages.flatMap((page) => page.rows), [pages]);
  const [layout, setLayout] = useState<Layout>(() => ({ rows: committed, pages: pages.length, sinceMs: serverNow() }));
  const lastPage = pages.at(-1);
  let current = layout;
  if (pages.length > layout.pages && lastPage) {
    current = { ...layout, rows: extendLayout(layout.rows, lastPage.rows), pages: pages.length };
    setLayout(current);
  }
  // Nothing stands here that could move under the pointer.
  if (current.rows.length === 0 && committed.length > 0) {
    current = { rows: committed, pages: pages.length, sinceMs: serverNow() };
    setLayout(current);
  }
  const steady = useMemo(
    () => steadyRows(current.rows, committed, lastPage?.next_cursor !== null),
    [current.rows, committed, lastPage?.next_cursor],
  );
  return {
    ...steady,
    sinceMs: current.sinceMs,
    layOut: () => setLayout({ rows: committed, pages: pages.length, sinceMs: serverNow() }),
  };
}
