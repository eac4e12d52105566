import { routes } from "@/lib/server/api";
import { renewDoor } from "@/lib/server/api/doors/execution";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(renewDoor);
