import { randomBytes } from "node:crypto";
import { v7 as newId } from "uuid";
import { acrossWorkspaces, type Db, inWorkspace, type Scope, type Tx } from "@/db/client";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Caller, PrincipalKind, Role, Surface } from "@/lib/protocol/principal";

export const DEFAULT_WORKSPACE = "main";

/** The installation's first workspace: made when it is not there. Gives its id. */
export async function ensureWorkspace(db: Db, slug: string = DEFAULT_WORKSPACE): Promise<string> {
  return acrossWorkspaces(db, async (sql) => {
    const [known] = await sql<{ id: string | null }[]>`select holdpoint_find_workspace(${slug}) as id`;
    if (known?.id) return known.id;
    const id = newId();
    await sql`select set_config('holdpoint.workspace', ${id}, true)`;
    const made = await sql`insert into workspaces ${sql({ id, slug, name: slug })} on conflict (slug) do nothing`;
    if (made.count === 1) return id;
    const [other] = await sql<{ id: string }[]>`select holdpoint_find_workspace(${slug}) as id`;
    if (!other) throw new Error(`workspace ${slug} could not be made`);
    return other.id;
  });
}

/** A principal by kind and name; made when it is not there. */
export async function ensurePrincipal(
  tx: Tx,
  kind: PrincipalKind,
  name: string,
  person: string | null = null,
): Promise<string> {
  await tx.sql`insert into principals ${tx.sql({ workspaceId: tx.workspace, id: newId(), kind, name, personId: person })} on conflict do nothing`;
  const [row] = await tx.sql<{ id: string }[]>`
    select id from principals where workspace_id = ${tx.workspace}
      and ${person === null ? tx.sql`kind = ${kind} and name = ${name}` : tx.sql`person_id = ${person}`}`;
  if (!row) throw new Error(`principal ${kind} ${name} could not be made`);
  return row.id;
}

/** A caller that needs no key: the system itself, or the command line. */
export async function localCaller(
  scope: Scope,
  workspace: string,
  kind: "system" | "cli",
  name: string,
  surface: Surface,
): Promise<Caller> {
  const principal = await inWorkspace(scope, workspace, (tx) => ensurePrincipal(tx, kind, name));
  const display = kind === "cli" ? `cli:${name}` : name;
  return { workspace, principal, kind, role: null, person: null, display, surface, credential: null };
}

export interface MadeKey {
  readonly key: string;
  readonly keyId: string;
  readonly principal: string;
  readonly prefix: string;
}

const PREFIX_LENGTH = 11;

/** Make a key for a principal. The key is `hp_` and 256 bits; only its prefix and its hash are kept, so it is shown once. */
export async function makeKey(tx: Tx, principal: string, kind: PrincipalKind): Promise<MadeKey> {
  const key = `hp_${randomBytes(8)
    .toString("hex")
    .slice(0, PREFIX_LENGTH - 3)}${randomBytes(32).toString("base64url")}`;
  const keyId = newId();
  const prefix = key.slice(0, PREFIX_LENGTH);
  await tx.sql`insert into api_keys ${tx.sql({ workspaceId: tx.workspace, id: keyId, principalId: principal, kind, prefix, sha256: sha256Hex(key) })}`;
  return { key, keyId, principal, prefix };
}

/** Find what a key opens by its prefix. The caller compares the hash: in constant time. Null: no such live key. */
export async function findKey(db: Db, key: string): Promise<FoundKey | null> {
  return acrossWorkspaces(db, async (sql) => {
    const [row] = await sql<FoundKey[]>`select * from holdpoint_find_key(${key.slice(0, PREFIX_LENGTH)})`;
    return row ?? null;
  });
}

export interface FoundKey {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly principalId: string;
  readonly kind: PrincipalKind;
  readonly sha256: string;
  readonly name: string;
  readonly personId: string | null;
  readonly personName: string | null;
  readonly role: Role | null;
  readonly suspended: boolean;
}

export async function makeKeyFor(
  scope: Scope,
  workspace: string,
  kind: "agent" | "operator" | "worker",
  name: string,
): Promise<MadeKey> {
  return inWorkspace(scope, workspace, async (tx) => makeKey(tx, await ensurePrincipal(tx, kind, name), kind));
}

export interface AddedPerson {
  readonly person: string;
  readonly principal: string;
  readonly email: string;
  readonly role: Role;
}

/** Add a person to a workspace, or change their role. One person whatever the case of the e-mail. */
export async function addPerson(
  scope: Scope,
  workspace: string,
  email: string,
  role: Role,
  name?: string,
): Promise<AddedPerson> {
  return inWorkspace(scope, workspace, async (tx) => {
    const display = name ?? email.split("@")[0] ?? email;
    await tx.sql`insert into people ${tx.sql({ id: newId(), email, name: display })} on conflict (email) do nothing`;
    const [person] = await tx.sql<{ id: string }[]>`select id from people where email = ${email}`;
    if (!person) throw new Error("the person could not be made");
    await tx.sql`
      insert into members ${tx.sql({ workspaceId: tx.workspace, personId: person.id, role })}
      on conflict (workspace_id, person_id) do update set role = excluded.role, disabled_at = null`;
    // A principal's name is unique by kind, and two people may share theirs: the e-mail tells them apart.
    const principal = await ensurePrincipal(tx, "person", email.toLowerCase(), person.id);
    return { person: person.id, principal, email, role };
  });
}

/** A one-time sign-in link's token: 256 bits, of which only the hash is kept; one use, 24 h. Null names the first owner. */
export async function makeSignInToken(scope: Scope, workspace: string, person: string | null): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  await inWorkspace(
    scope,
    workspace,
    (tx) => tx.sql`
    insert into auth_links (token_sha256, person_id, expires_at)
    values (${sha256Hex(token)}, ${person}, clock_timestamp() + interval '24 hours')`,
  );
  return token;
}
