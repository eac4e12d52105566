import "server-only";
import { connect, type Db } from "@/db/client";
import { Notifier } from "@/db/notifier";
import { serverSettings } from "./env";

let opened: Promise<Db> | null = null;

/** The web server's connections: opened on first use, shared by everything in the process. */
export function database(): Promise<Db> {
  opened ??= open().catch((cause: unknown) => {
    // A database that was away when the first request came must not be away for ever.
    opened = null;
    throw cause;
  });
  return opened;
}

function open(): Promise<Db> {
  const { databaseUrl } = serverSettings();
  const notifier = new Notifier(databaseUrl);
  return connect(databaseUrl, { role: "holdpoint_app", onCommit: notifier.tell });
}
