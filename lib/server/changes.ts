import "server-only";
import { Listener } from "@/db/notifier";
import { serverSettings } from "./env";

let listening: Listener | null = null;

/** The process's one LISTEN connection, for everyone who waits for a change. */
export function changes(): Listener {
  listening ??= new Listener(serverSettings().databaseUrl);
  return listening;
}
