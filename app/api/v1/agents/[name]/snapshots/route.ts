import { route } from "@/lib/server/api";
import { publishSnapshotDoor } from "@/lib/server/api/doors/agents";

export const dynamic = "force-dynamic";

export const POST = route(publishSnapshotDoor);
