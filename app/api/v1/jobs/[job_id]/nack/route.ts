import { route } from "@/lib/server/api";
import { nackDoor } from "@/lib/server/api/doors/work";

export const dynamic = "force-dynamic";

export const POST = route(nackDoor);
