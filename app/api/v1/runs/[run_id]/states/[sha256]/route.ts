import { route } from "@/lib/server/api";
import { putStateDoor } from "@/lib/server/api/doors/states";

export const dynamic = "force-dynamic";

export const PUT = route(putStateDoor);
