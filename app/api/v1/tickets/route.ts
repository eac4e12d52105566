import { route } from "@/lib/server/api";
import { listTicketsDoor } from "@/lib/server/api/doors/tickets";

export const dynamic = "force-dynamic";

export const GET = route(listTicketsDoor);
