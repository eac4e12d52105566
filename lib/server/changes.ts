import "server-only";
import { Listener } from "@/db/notifier";
import { serverSettings } from "./env";
import { log } from "./log";

let listening: Listener | null = null;

/** The process's one LISTEN connection, for everyone who waits for a change. */
export function changes(): Listener {
  listening ??= new Listener(serverSettings().databaseUrl, (sentence) => log.warn(sentence));
  return listening;
}
