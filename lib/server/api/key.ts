import { timingSafeEqual } from "node:crypto";
import type { Db } from "@/db/client";
import { type FoundKey, findKey } from "@/db/store/identity";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Caller } from "@/lib/protocol/principal";

const BEARER = /^Bearer (hp_[A-Za-z0-9_-]{16,128})$/;

/** Compared with when there is no such key, so that a missing prefix takes the same path as a wrong secret. */
const NO_KEY = "0".repeat(64);

/**
 * Who calls, by the Authorization header alone: never a cookie. Null for a missing, malformed, unknown, expired or revoked key, and
 * for one of a suspended workspace; which of these it was is not told. The key's rights are read anew every time.
 */
export async function callerOf(db: Db, authorization: string | null): Promise<Caller | null> {
  const key = BEARER.exec(authorization ?? "")?.[1];
  if (key === undefined) return null;
  const found = await findKey(db, key);
  const matches = timingSafeEqual(Buffer.from(sha256Hex(key), "hex"), Buffer.from(found?.sha256 ?? NO_KEY, "hex"));
  // Nobody calls for a suspended workspace: not to read, not to open a run, not to get an old answer again.
  return found && matches && !found.suspended ? toCaller(found) : null;
}

function toCaller(found: FoundKey): Caller {
  const isPerson = found.kind === "person";
  return {
    workspace: found.workspaceId,
    principal: found.principalId,
    kind: found.kind,
    role: isPerson ? found.role : null,
    person: found.personId,
    display: isPerson ? (found.personName ?? found.name) : found.name,
    surface: "api",
    credential: found.keyId,
  };
}
