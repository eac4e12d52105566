import { type Db, inWorkspace } from "@/db/client";
import { addPerson, makeKey, makeKeyFor, makeSignInToken } from "@/db/store/identity";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import type { Role } from "@/lib/protocol/principal";

/** Whom the command line gives keys: people get theirs with `people add`. */
export const KEY_KINDS = ["agent", "operator", "worker"] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** Make a key for a principal of that name, or one more key for it. The key is shown here and never again. */
export async function createKey(db: Db, workspace: string, kind: KeyKind, name: string): Promise<JsonObject> {
  const made = await makeKeyFor(db, workspace, kind, name);
  return { key: made.key, key_id: made.keyId, kind, name, principal: made.principal };
}

/** Add a person, or change their role, with a one-time sign-in link and a personal key that decides in their name. */
export async function createPerson(
  db: Db,
  workspace: string,
  email: string,
  role: Role,
  origin: string,
): Promise<JsonObject> {
  const added = await addPerson(db, workspace, email, role);
  const token = await makeSignInToken(db, workspace, added.person);
  const key = await inWorkspace(db, workspace, (tx) => makeKey(tx, added.principal, "person"));
  return { email, role, person: added.person, personal_key: key.key, sign_in_link: `${origin}/sign-in#${token}` };
}
