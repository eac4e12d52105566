import { routes } from "@/lib/server/api";
import { readRunDoor } from "@/lib/server/api/doors/runs";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(readRunDoor);
