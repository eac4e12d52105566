import { consoleRead } from "@/lib/server/console-route";
import { loadOpenCount } from "@/lib/server/loaders/inbox";

export const GET = consoleRead("read_tickets", loadOpenCount);
