import { consoleRead } from "@/lib/server/console-route";
import { loadAgents } from "@/lib/server/loaders/threads";

/** For those who operate: an approver has no use for who could be started. */
export const GET = consoleRead("cancel_run", loadAgents);
