import { services } from "@/lib/server/api";
import { serveMetrics } from "@/lib/server/api/serve-metrics";

export const dynamic = "force-dynamic";

export async function GET(request: Request): Promise<Response> {
  return serveMetrics(request, await services());
}
