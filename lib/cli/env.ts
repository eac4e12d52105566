import os from "node:os";
import path from "node:path";
import { z } from "zod";
import type { ModelSettings } from "@/lib/runtime/model/settings";

/** The programs' configuration. Every value is checked here, once, and then passed in. */
export interface Settings {
  readonly port: number;
  /** The address the console listens on: this machine alone, unless told otherwise. */
  readonly host: string;
  /** What browsers call the console, without a path. The guards compare with it. */
  readonly origin: string;
  /** The origin, or the port that it follows, was said; else it is the default. */
  readonly originIsGiven: boolean;
  /** Null: the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  /** The schema's owner, where the app's role may not migrate. */
  readonly migrateUrl: string | null;
  readonly dataDir: string;
  /** The folders under which the gateway may write. */
  readonly writeRoots: readonly string[];
  /** Whom the gateway may send requests to, as it was written; empty: nobody. */
  readonly httpHosts: string;
  /** The programs that the gateway may run, by their absolute paths; empty: none. */
  readonly commands: readonly string[];
  /** Null: seed the demo into an empty embedded database only. */
  readonly demo: boolean | null;
  readonly model: ModelSettings;
  /** Tests only: where this process is to be killed, as `name:n`. */
  readonly failpoint: string | null;
}

const blankIsUnset = (value: unknown) => (value === "" ? undefined : value);

const port = z.coerce
  .number("PORT must be a number, for example PORT=3000.")
  .int("PORT must be a whole number, for example PORT=3000.")
  .min(1, "PORT must be between 1 and 65535.")
  .max(65_535, "PORT must be between 1 and 65535.");

const databaseUrl = (name: string) =>
  z.string().refine((value) => isUrl(value, ["postgres:", "postgresql:"]), {
    error: `${name} must look like postgres://role:password@host:5432/database. Unset it to use the embedded PostgreSQL.`,
  });

const origin = z.string().refine((value) => isUrl(value, ["http:", "https:"]) && new URL(value).origin === value, {
  error: "HOLDPOINT_ORIGIN must be the console's public origin without a path, for example https://holdpoint.example.",
});

const modelUrl = z.string().refine((value) => isUrl(value, ["http:", "https:"]) && !/[@?#]/.test(value), {
  error:
    "HOLDPOINT_MODEL_BASE_URL must be the address of an OpenAI-compatible provider, for example https://api.openai.com/v1.",
});

const timeout = "HOLDPOINT_MODEL_TIMEOUT_MS must be between 1000 and 3600000 milliseconds, for example 120000.";
const modelTimeout = z.coerce.number(timeout).int(timeout).min(1_000, timeout).max(3_600_000, timeout);

const schema = z.object({
  PORT: z.preprocess(blankIsUnset, port.optional()),
  HOLDPOINT_HOST: z.preprocess(blankIsUnset, z.string().default("127.0.0.1")),
  HOLDPOINT_ORIGIN: z.preprocess(blankIsUnset, origin.optional()),
  DATABASE_URL: z.preprocess(blankIsUnset, databaseUrl("DATABASE_URL").optional()),
  DATABASE_MIGRATE_URL: z.preprocess(blankIsUnset, databaseUrl("DATABASE_MIGRATE_URL").optional()),
  HOLDPOINT_DATA_DIR: z.preprocess(blankIsUnset, z.string().default(".data")),
  HOLDPOINT_WRITE_ROOTS: z.preprocess(blankIsUnset, z.string().optional()),
  HOLDPOINT_HTTP_HOSTS: z.preprocess(blankIsUnset, z.string().default("")),
  HOLDPOINT_COMMANDS: z.preprocess(blankIsUnset, z.string().default("")),
  HOLDPOINT_DEMO: z.preprocess(
    blankIsUnset,
    z.enum(["0", "1"], "HOLDPOINT_DEMO must be 1 (seed the demo) or 0 (never), or unset.").optional(),
  ),
  HOLDPOINT_MODEL_BASE_URL: z.preprocess(blankIsUnset, modelUrl.optional()),
  HOLDPOINT_MODEL_API_KEY: z.preprocess(blankIsUnset, z.string().optional()),
  HOLDPOINT_MODEL_TIMEOUT_MS: z.preprocess(blankIsUnset, modelTimeout.default(120_000)),
  HOLDPOINT_FAILPOINT: z.preprocess(blankIsUnset, z.string().optional()),
});

/**
 * Read and check the variables.
 *
 * @throws Error with one sentence for each variable that is wrong, and what it should be.
 */
export function readSettings(root: string, env: NodeJS.ProcessEnv = process.env): Settings {
  const parsed = schema.safeParse(env);
  if (!parsed.success) throw new Error(parsed.error.issues.map((issue) => issue.message).join("\n"));
  const value = parsed.data;
  if (value.DATABASE_MIGRATE_URL !== undefined && value.DATABASE_URL === undefined) {
    throw new Error("DATABASE_MIGRATE_URL is set without DATABASE_URL. Set both, or neither.");
  }
  const served = value.PORT ?? 3000;
  const dataDir = path.resolve(root, value.HOLDPOINT_DATA_DIR);
  const roots = value.HOLDPOINT_WRITE_ROOTS?.split(path.delimiter).filter((entry) => entry !== "");
  return {
    port: served,
    host: value.HOLDPOINT_HOST,
    origin: value.HOLDPOINT_ORIGIN ?? `http://localhost:${served}`,
    originIsGiven: value.HOLDPOINT_ORIGIN !== undefined || value.PORT !== undefined,
    databaseUrl: value.DATABASE_URL ?? null,
    migrateUrl: value.DATABASE_MIGRATE_URL ?? null,
    dataDir,
    writeRoots: (roots ?? [os.tmpdir(), path.join(dataDir, "out")]).map((entry) => path.resolve(root, entry)),
    httpHosts: value.HOLDPOINT_HTTP_HOSTS,
    commands: value.HOLDPOINT_COMMANDS.split(path.delimiter).filter((entry) => entry !== ""),
    demo: value.HOLDPOINT_DEMO === undefined ? null : value.HOLDPOINT_DEMO === "1",
    model: {
      baseUrl: value.HOLDPOINT_MODEL_BASE_URL ?? null,
      apiKey: value.HOLDPOINT_MODEL_API_KEY ?? null,
      timeoutMs: value.HOLDPOINT_MODEL_TIMEOUT_MS,
    },
    failpoint: value.HOLDPOINT_FAILPOINT ?? null,
  };
}

/**
 * The environment of a program that we start: ours, with changes. The owner's database address stays here;
 * no program that serves requests may hold it.
 */
export function childEnvironment(
  changes: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const { DATABASE_MIGRATE_URL: _owner, ...rest } = env;
  return { ...rest, NEXT_TELEMETRY_DISABLED: "1", ...changes };
}

/** For a program that asks no model. */
export function withoutModelKey({ HOLDPOINT_MODEL_API_KEY: _key, ...rest }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return rest;
}

const testEnv = z.object({
  HOLDPOINT_TEST_DATABASE_URL: z.string().default(""),
  HOLDPOINT_README: z.string().default(""),
  HOLDPOINT_STOPS: z.coerce.number().int().min(1).default(3),
  HOLDPOINT_SOAK_SECONDS: z.coerce.number().int().min(1).default(20),
});

export interface TestEnv {
  /** Where the tests find their server. Empty: an embedded one in a throw-away folder. */
  readonly databaseUrl: string;
  /** Whether README's pictures are taken anew. */
  readonly keepsPictures: boolean;
  /** How many workers are stopped in mid-call: a few, or as many as SAFETY.md quotes. */
  readonly stops: number;
  /** How long workers, sessions and connections are ended at random. */
  readonly soakSeconds: number;
}

export function readTestEnv(env: NodeJS.ProcessEnv = process.env): TestEnv {
  const read = testEnv.parse(env);
  return {
    databaseUrl: read.HOLDPOINT_TEST_DATABASE_URL,
    keepsPictures: read.HOLDPOINT_README === "1",
    stops: read.HOLDPOINT_STOPS,
    soakSeconds: read.HOLDPOINT_SOAK_SECONDS,
  };
}

function isUrl(value: string, protocols: readonly string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol);
}
