"use client";

import { useQuery } from "@tanstack/react-query";
import { readConsole } from "@/components/console/read";
import type { OpenCount } from "@/lib/protocol/console-inbox-view";

/** Open tickets that people answer, as it is written: "12", "1000+". Null for none, and while unknown: a failed count never looks like none. */
export function useOpenCount(): string | null {
  const query = useQuery({
    queryKey: ["inbox", "count"],
    queryFn: ({ signal }) => readConsole<OpenCount>("/console/inbox/count", signal),
  });
  if (query.isError || !query.data || query.data.open === 0) return null;
  return `${query.data.open}${query.data.capped ? "+" : ""}`;
}
