import { routes } from "@/lib/server/api";
import { cancelTicketDoor } from "@/lib/server/api/doors/tickets";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(cancelTicketDoor);
