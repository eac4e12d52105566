import { consoleRead } from "@/lib/server/console-route";
import { loadFound } from "@/lib/server/loaders/find";

export const GET = consoleRead("read_tickets", (caller, _params, query) => loadFound(caller, query));
