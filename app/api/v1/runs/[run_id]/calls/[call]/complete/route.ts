import { routes } from "@/lib/server/api";
import { completeDoor } from "@/lib/server/api/doors/execution";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(completeDoor);
