import { consoleRead } from "@/lib/server/console-route";
import { loadInbox } from "@/lib/server/loaders/inbox";

export const GET = consoleRead("read_tickets", (caller, _params, query) => loadInbox(caller, query));
