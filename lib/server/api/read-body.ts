import { type JsonLimits, type JsonValue, readJsonBytes } from "@/lib/protocol/canonical-json";
import { type Refusal, refusal } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";

/** The envelope around call arguments; those have limits of their own, counted from themselves. */
const ENVELOPE_LIMITS: JsonLimits = { maxDepth: 80, maxKeys: Number.MAX_SAFE_INTEGER };

/** The body's bytes, read no further than the limit: a declared length is not believed, and more is not kept. */
export async function readBytes(request: Request, most: number): Promise<Result<Uint8Array, Refusal>> {
  const tooLarge = refuse(refusal("too_large", { limit_bytes: most }));
  if (Number(request.headers.get("content-length") ?? 0) > most) return tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > most) {
      await reader.cancel();
      return tooLarge;
    }
    chunks.push(value);
  }
  return ok(Buffer.concat(chunks));
}

/** The body's JSON without loss. */
export function readEnvelope(bytes: Uint8Array): Result<JsonValue, Refusal> {
  return readJsonBytes(bytes, ENVELOPE_LIMITS);
}
