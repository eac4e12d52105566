import { type JsonValue, readJson } from "../canonical-json";

/** The store holds canonical text that was judged at the door; a text that no longer reads was tampered with. */
export function stored(text: string): JsonValue {
  const read = readJson(text, { maxDepth: 1_000, maxKeys: 1_000_000 });
  if (!read.ok) throw new Error(`a stored text is no JSON: ${read.refusal.detail} at ${read.refusal.path}`);
  return read.value;
}
