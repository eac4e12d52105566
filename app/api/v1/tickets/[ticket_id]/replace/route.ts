import { route } from "@/lib/server/api";
import { replaceDoor } from "@/lib/server/api/doors/tickets";

export const dynamic = "force-dynamic";

export const POST = route(replaceDoor);
