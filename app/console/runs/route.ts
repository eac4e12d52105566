import { consoleRead } from "@/lib/server/console-route";
import { loadRuns } from "@/lib/server/loaders/runs";

export const GET = consoleRead("read_run", (caller, _params, query) => loadRuns(caller, query));
