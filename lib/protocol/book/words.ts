import type { JsonObject } from "../canonical-json";
import { sha256Hex } from "../hash";
import type { Book } from "./book";

/** How an event names a text it must not hold: by hash, size and where it lies. Source: protocol §9. */
export function reference(text: string, ref: string): JsonObject {
  return { hash: sha256Hex(text), bytes: new TextEncoder().encode(text).length, ref };
}

/** As `reference`, for a text that stands in no column: the store keeps it among the contents. */
export function keep(book: Book, kind: string, text: string): JsonObject {
  book.contents.push({ kind, text });
  return reference(text, `content:${kind}`);
}
