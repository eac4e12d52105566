import { consoleRead } from "@/lib/server/console-route";
import { loadTicket } from "@/lib/server/loaders/ticket";

export const GET = consoleRead<{ readonly id: string }>("read_tickets", (caller, { id }) => loadTicket(caller, id));
