import { route } from "@/lib/server/api";
import { cancelTicketDoor } from "@/lib/server/api/doors/tickets";

export const dynamic = "force-dynamic";

export const POST = route(cancelTicketDoor);
