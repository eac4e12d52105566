import { routes } from "@/lib/server/api";
import { ackDoor } from "@/lib/server/api/doors/work";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(ackDoor);
