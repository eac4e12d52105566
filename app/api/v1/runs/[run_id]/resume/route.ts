import { routes } from "@/lib/server/api";
import { resumeDoor } from "@/lib/server/api/doors/resume";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(resumeDoor);
