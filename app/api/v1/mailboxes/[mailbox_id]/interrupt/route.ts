import { routes } from "@/lib/server/api";
import { interruptDoor } from "@/lib/server/api/doors/jobs";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(interruptDoor);
