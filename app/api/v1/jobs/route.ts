import { route } from "@/lib/server/api";
import { listJobsDoor } from "@/lib/server/api/doors/jobs";

export const dynamic = "force-dynamic";

export const GET = route(listJobsDoor);
