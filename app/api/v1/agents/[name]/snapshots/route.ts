import { routes } from "@/lib/server/api";
import { publishSnapshotDoor } from "@/lib/server/api/doors/agents";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(publishSnapshotDoor);
