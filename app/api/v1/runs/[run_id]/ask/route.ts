import { routes } from "@/lib/server/api";
import { askDoor } from "@/lib/server/api/doors/calls";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(askDoor);
