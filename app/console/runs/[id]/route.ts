import { consoleRead } from "@/lib/server/console-route";
import { loadRun } from "@/lib/server/loaders/runs";

export const GET = consoleRead<{ readonly id: string }>("read_run", (caller, { id }) => loadRun(caller, id));
