import { openApiDocument } from "@/lib/server/api/openapi";

/** Made when the server is built: it holds nothing of a tenant, so anyone may read it. */
export const dynamic = "force-static";

export function GET(): Response {
  return Response.json(openApiDocument());
}
