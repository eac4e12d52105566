import { consoleRead } from "@/lib/server/console-route";
import { loadInboxFacts } from "@/lib/server/loaders/inbox";

export const GET = consoleRead("read_tickets", (caller, _params, query) => loadInboxFacts(caller, query));
