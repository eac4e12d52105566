import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

/** A SHA-256 as 64 lowercase hex digits: the only spelling in which two hashes are ever compared. Source: protocol §2. */
export type Sha256 = string & { readonly __brand: "Sha256" };

const SHA256_PATTERN = /^[0-9a-f]{64}$/;
const utf8 = new TextEncoder();

/**
 * The hash of a text's UTF-8 bytes, or of bytes as they are.
 *
 * A lone surrogate has no UTF-8 form and would be hashed as U+FFFD, as if it were another text, so it throws.
 * Texts that come from `canonicalJson` never hold one.
 */
export function sha256Hex(data: string | Uint8Array): Sha256 {
  if (typeof data !== "string") return bytesToHex(sha256(data)) as Sha256;
  if (hasLoneSurrogate(data)) throw new TypeError("a lone surrogate has no UTF-8 form to hash");
  return bytesToHex(sha256(utf8.encode(data))) as Sha256;
}

export function isSha256(text: string): text is Sha256 {
  return SHA256_PATTERN.test(text);
}

/** In Unicode mode a well-formed pair is one code point, so only halves without their partner match. */
export function hasLoneSurrogate(text: string): boolean {
  return /[\ud800-\udfff]/u.test(text);
}
