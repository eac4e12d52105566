import { routes } from "@/lib/server/api";
import { pauseDoor } from "@/lib/server/api/doors/runs";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(pauseDoor);
