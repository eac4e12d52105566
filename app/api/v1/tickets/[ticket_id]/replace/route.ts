import { routes } from "@/lib/server/api";
import { replaceDoor } from "@/lib/server/api/doors/tickets";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(replaceDoor);
