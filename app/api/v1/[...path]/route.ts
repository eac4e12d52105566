import { noSuchCall } from "@/lib/server/api/problem";

export const dynamic = "force-dynamic";

/** A path that is no call of the API gets an answer of the API, not the console's page. */
export { noSuchCall as DELETE, noSuchCall as GET, noSuchCall as PATCH, noSuchCall as POST, noSuchCall as PUT };
