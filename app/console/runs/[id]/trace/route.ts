import { consoleRead } from "@/lib/server/console-route";
import { loadTrace } from "@/lib/server/loaders/runs";

export const GET = consoleRead<{ readonly id: string }>("read_trace", (caller, { id }, query) =>
  loadTrace(caller, id, query),
);
