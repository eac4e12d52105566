import { route } from "@/lib/server/api";
import { cancelJobDoor } from "@/lib/server/api/doors/jobs";

export const dynamic = "force-dynamic";

export const POST = route(cancelJobDoor);
