import { routes } from "@/lib/server/api";
import { listJobsDoor } from "@/lib/server/api/doors/jobs";

export const dynamic = "force-dynamic";

export const { DELETE, GET, PATCH, POST, PUT } = routes(listJobsDoor);
