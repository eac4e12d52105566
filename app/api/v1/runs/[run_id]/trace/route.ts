import { route } from "@/lib/server/api";
import { traceDoor } from "@/lib/server/api/doors/trace";

export const dynamic = "force-dynamic";

export const GET = route(traceDoor);
