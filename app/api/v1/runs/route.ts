import { routes } from "@/lib/server/api";
import { openRunDoor } from "@/lib/server/api/doors/runs";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(openRunDoor);
