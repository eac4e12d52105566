import { route } from "@/lib/server/api";
import { readStateDoor } from "@/lib/server/api/doors/states";

export const dynamic = "force-dynamic";

export const GET = route(readStateDoor);
