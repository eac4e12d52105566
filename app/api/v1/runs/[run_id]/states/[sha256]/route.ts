import { routes } from "@/lib/server/api";
import { putStateDoor } from "@/lib/server/api/doors/states";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(putStateDoor);
