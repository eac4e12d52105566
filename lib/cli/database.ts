import { existsSync } from "node:fs";
import path from "node:path";
import { addressOf, type EmbeddedServer, startEmbedded } from "@/db/embedded";
import { migrate } from "@/db/migrate";
import type { Settings } from "./env";
import { secretFile } from "./secret-file";

const EMBEDDED_DATABASE = "holdpoint";
const EMBEDDED_LOGIN = "holdpoint_login";

/** The database of this installation, migrated and ready. */
export interface OpenDatabase {
  /** The app's address: a login with the app's rights alone, where roles could be made. */
  readonly url: string;
  /** The server, when it is the embedded one. */
  readonly embedded: EmbeddedServer | null;
  /** Leave it. The embedded server stops when nobody else uses it. */
  close(): Promise<void>;
}

/** The settings name an embedded database that nobody has made yet. */
export function isUnused({ databaseUrl, dataDir }: Pick<Settings, "databaseUrl" | "dataDir">): boolean {
  return databaseUrl === null && !existsSync(path.join(dataDir, "pg"));
}

/**
 * Open the database that the settings name: an external one by its address, else the embedded server of
 * the data folder, started or adopted. `npm start` and the command line both come in here.
 */
export async function openDatabase(
  settings: Settings,
  root: string,
  report: (line: string) => void,
): Promise<OpenDatabase> {
  const folder = path.join(root, "db", "migrations");
  if (settings.databaseUrl !== null) return openExternal(settings.databaseUrl, settings.migrateUrl, folder, report);

  const password = secretFile(path.join(settings.dataDir, "database-password"));
  const server = await startEmbedded({ folder: path.join(settings.dataDir, "pg"), report });
  try {
    const login = { user: EMBEDDED_LOGIN, password };
    const database = EMBEDDED_DATABASE;
    await migrate({ adminUrl: server.adminUrl, database, folder, appLogin: login, log: report });
    return {
      url: addressOf(server.adminUrl, { database, ...login }),
      embedded: server,
      close: async () => {
        await server.leave();
      },
    };
  } catch (cause) {
    await server.leave();
    throw cause;
  }
}

async function openExternal(
  url: string,
  migrateUrl: string | null,
  folder: string,
  report: (line: string) => void,
): Promise<OpenDatabase> {
  const address = new URL(url);
  await migrate({
    adminUrl: migrateUrl ?? url,
    database: decodeURIComponent(address.pathname.slice(1)) || "holdpoint",
    folder,
    appLogin: migrateUrl === null ? null : { user: decodeURIComponent(address.username), password: null },
    log: report,
  });
  return { url, embedded: null, close: () => Promise.resolve() };
}
