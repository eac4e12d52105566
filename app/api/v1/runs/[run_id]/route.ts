import { route } from "@/lib/server/api";
import { readRunDoor } from "@/lib/server/api/doors/runs";

export const dynamic = "force-dynamic";

export const GET = route(readRunDoor);
