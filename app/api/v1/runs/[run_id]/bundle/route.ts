import { routes } from "@/lib/server/api";
import { bundleDoor } from "@/lib/server/api/doors/bundle";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(bundleDoor);
