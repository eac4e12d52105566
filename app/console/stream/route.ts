import { guarded } from "@/lib/server/console-route";
import { changeStream } from "@/lib/server/console-stream";
import { database } from "@/lib/server/database";
import { currentCaller } from "@/lib/server/session";

export const GET = guarded("read_tickets", async (caller, _params, request) =>
  changeStream(await database(), caller, { stillReads: currentCaller }, request.signal),
);
