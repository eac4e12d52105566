"use client";

import { useQuery } from "@tanstack/react-query";
import { readConsole } from "@/components/console/read";

interface OpenCount {
  readonly open: number;
  readonly now_ms: number;
}

/** Open tickets that people answer. Null while unknown: a failed count never looks like none. */
export function useOpenCount(): number | null {
  const query = useQuery({
    queryKey: ["inbox", "count"],
    queryFn: ({ signal }) => readConsole<OpenCount>("/console/inbox/count", signal),
  });
  return query.isError ? null : (query.data?.open ?? null);
}
