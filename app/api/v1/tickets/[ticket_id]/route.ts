import { route } from "@/lib/server/api";
import { readTicketDoor } from "@/lib/server/api/doors/tickets";

export const dynamic = "force-dynamic";

export const GET = route(readTicketDoor);
