import { isArray, isObject, type JsonValue } from "@/lib/protocol/canonical-json";
import { ok, type Result, refuse } from "@/lib/result";
import type { Effect } from "./effect";

/** A program with its words, as the arguments spell it. */
export interface CommandArgs {
  readonly program: string;
  readonly words: readonly string[];
  readonly stdin: string;
}

const MOST_ARGV_BYTES = 65_536;
const MOST_STDIN_BYTES = 262_144;

const FIELDS = ["folder", "argv", "stdin"];

/**
 * `{argv, stdin?, folder?}`: the program's absolute path and its words, never a line for a shell; the folder, where a model wrote it
 * among its arguments, the target itself.
 */
export function readCommandArgs(args: JsonValue, target: JsonValue): Result<CommandArgs, Effect> {
  if (!isObject(args)) return invalid("args is an object");
  if (Object.keys(args).some((key) => !FIELDS.includes(key))) return invalid(`args has only ${FIELDS.join(", ")}`);
  if (args.folder !== undefined && args.folder !== target) return invalid("args.folder is another than the output");
  const { argv, stdin = null } = args;
  if (argv === undefined || !isArray(argv)) return invalid("args.argv is a list of texts");
  const words = argv.filter((word) => typeof word === "string");
  const [program] = words;
  if (words.length !== argv.length || program === undefined) return invalid("args.argv is a list of texts");
  // A NUL ends a word early where the system reads it: what runs would not be what was approved.
  if (words.some((word) => word.includes("\0"))) return invalid("no word of args.argv holds a NUL");
  if (stdin !== null && typeof stdin !== "string") return invalid("args.stdin is a text");
  const argvBytes = words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
  if (argvBytes > MOST_ARGV_BYTES) return tooLarge(`args.argv has at most ${MOST_ARGV_BYTES} bytes`);
  if (Buffer.byteLength(stdin ?? "") > MOST_STDIN_BYTES) {
    return tooLarge(`args.stdin has at most ${MOST_STDIN_BYTES} bytes`);
  }
  return ok({ program, words: words.slice(1), stdin: stdin ?? "" });
}

function invalid(detail: string) {
  return refuse({ kind: "invalid_args", detail } as const);
}

function tooLarge(detail: string) {
  return refuse({ kind: "failed", code: "too_large", detail } as const);
}
