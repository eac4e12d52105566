import { routes } from "@/lib/server/api";
import { traceDoor } from "@/lib/server/api/doors/trace";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(traceDoor);
