import { serverSettings } from "@/lib/server/env";

export const dynamic = "force-dynamic";

/** Liveness: this process answers. The boot id tells it from the server of an older start. */
export function GET(): Response {
  return Response.json(
    { status: "ok", boot_id: serverSettings().bootId },
    { headers: { "cache-control": "no-store" } },
  );
}
