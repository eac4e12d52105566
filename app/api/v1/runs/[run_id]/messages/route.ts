import { route } from "@/lib/server/api";
import { talkDoor } from "@/lib/server/api/doors/runs";

export const dynamic = "force-dynamic";

export const POST = route(talkDoor);
