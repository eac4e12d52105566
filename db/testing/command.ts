import { spawn } from "node:child_process";
import path from "node:path";
import { isObject, type JsonObject, readJson } from "@/lib/protocol/canonical-json";
import type { FreshDatabase } from "./fresh-database";
import { othersWriteToo } from "./refusal-count";

export interface CommandAnswer {
  /** The exit code; null when the process was killed. */
  readonly code: number | null;
  readonly answer: JsonObject;
}

/** The `holdpoint` command as a user runs it: a process of its own for every word. */
export function commandOn(database: Pick<FreshDatabase, "adminUrl" | "appUrl">, writeRoots: string, failpoint = "") {
  return (...args: readonly string[]): Promise<CommandAnswer> => {
    othersWriteToo();
    const env: NodeJS.ProcessEnv = {
      NODE_ENV: "test",
      PATH: path.dirname(process.execPath),
      DATABASE_URL: database.appUrl,
      DATABASE_MIGRATE_URL: database.adminUrl,
      HOLDPOINT_WRITE_ROOTS: writeRoots,
      HOLDPOINT_FAILPOINT: failpoint,
    };
    const child = spawn(process.execPath, [path.resolve("bin", "holdpoint.mjs"), ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const out: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve({ code, answer: readAnswer(Buffer.concat(out).toString("utf8")) }));
    });
  };
}

/** One JSON object on one line, and nothing else on stdout. */
function readAnswer(text: string): JsonObject {
  if (text === "") return {};
  const read = readJson(text.trimEnd());
  if (!read.ok || !isObject(read.value)) throw new Error(`the command printed no JSON object: ${text.slice(0, 200)}`);
  return read.value;
}

export function eventsOf({ answer }: CommandAnswer): readonly string[] {
  const { trace } = answer;
  if (!Array.isArray(trace)) return [];
  return trace.map((event: JsonObject) => String(event.event));
}
