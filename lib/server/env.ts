import "server-only";
import { z } from "zod";

/** The web server's configuration, given by the supervisor that starts it. */
export interface ServerSettings {
  readonly databaseUrl: string;
  /** The console's public origin: what every guard compares with. */
  readonly origin: string;
  /** Names this start of the server: see `/healthz`. */
  readonly bootId: string;
  /** Signs session cookies. */
  readonly authSecret: string;
}

const missing = (name: string) =>
  `${name} is not set. Start Holdpoint with npm start, which sets it for the web server that it starts.`;

const schema = z.object({
  DATABASE_URL: z.string(missing("DATABASE_URL")).min(1, missing("DATABASE_URL")),
  HOLDPOINT_ORIGIN: z
    .string(missing("HOLDPOINT_ORIGIN"))
    .refine((value) => URL.canParse(value) && new URL(value).origin === value, {
      error: "HOLDPOINT_ORIGIN must be an origin without a path, for example https://holdpoint.example.",
    }),
  HOLDPOINT_BOOT_ID: z.string(missing("HOLDPOINT_BOOT_ID")).min(1),
  HOLDPOINT_AUTH_SECRET: z
    .string(missing("HOLDPOINT_AUTH_SECRET"))
    .min(32, "HOLDPOINT_AUTH_SECRET must have at least 32 characters."),
});

let known: ServerSettings | null = null;

/**
 * Read once, on first use: a build has no environment and must not need one.
 *
 * @throws Error with one sentence for each variable that is wrong.
 */
export function serverSettings(): ServerSettings {
  known ??= read(process.env);
  return known;
}

function read(env: NodeJS.ProcessEnv): ServerSettings {
  const parsed = schema.safeParse(env);
  if (!parsed.success) throw new Error(parsed.error.issues.map((issue) => issue.message).join("\n"));
  return {
    databaseUrl: parsed.data.DATABASE_URL,
    origin: parsed.data.HOLDPOINT_ORIGIN,
    bootId: parsed.data.HOLDPOINT_BOOT_ID,
    authSecret: parsed.data.HOLDPOINT_AUTH_SECRET,
  };
}
