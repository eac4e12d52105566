import { consoleRead } from "@/lib/server/console-route";
import { loadRefusals } from "@/lib/server/loaders/refusals";

export const GET = consoleRead("read_refusals", (caller, _params, query) => loadRefusals(caller, query));
