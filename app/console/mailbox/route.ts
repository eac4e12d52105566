import { consoleRead } from "@/lib/server/console-route";
import { loadMailbox } from "@/lib/server/loaders/mailbox";

export const GET = consoleRead("read_jobs", (caller, _params, query) => loadMailbox(caller, query));
