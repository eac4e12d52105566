import { consoleRead } from "@/lib/server/console-route";
import { loadThread } from "@/lib/server/loaders/threads";

export const GET = consoleRead<{ readonly id: string }>("read_run", (caller, { id }) => loadThread(caller, id));
