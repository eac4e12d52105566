import { randomUUID } from "node:crypto";
import { acrossWorkspaces, type Db, inWorkspace, type TransactionSql } from "@/db/client";
import { sha256Hex } from "@/lib/protocol/hash";
import { addPerson, ensureWorkspace, makeSignInToken } from "./identity";

/** Any constant: two links of a first owner must not both become one. */
const FIRST_OWNER_LOCK = 4_730_118;

/** Who a claimed link signs in: the person, and their row in sign-in's own table. */
export interface Claimed {
  readonly person: string;
  readonly authUser: string;
}

/** What a link is good for, without using it. Null: unknown, used or too old; which of them is not told. */
export async function readSignInLink(db: Db, token: string): Promise<"person" | "first_owner" | null> {
  return acrossWorkspaces(db, async (sql) => {
    const [link] = await sql<{ person: string | null; taken: boolean }[]>`
      select person_id as person, holdpoint_owner_exists() as taken from auth_links
      where token_sha256 = ${sha256Hex(token)} and used_at is null and expires_at > clock_timestamp()`;
    if (!link) return null;
    if (link.person !== null) return "person";
    return link.taken ? null : "first_owner";
  });
}

/** Use a person's link. Only one of any number of claims gets an answer. */
export async function claimSignInLink(db: Db, token: string): Promise<Claimed | null> {
  return acrossWorkspaces(db, async (sql) => {
    const [link] = await sql<{ person: string }[]>`
      update auth_links set used_at = clock_timestamp()
      where token_sha256 = ${sha256Hex(token)} and person_id is not null
        and used_at is null and expires_at > clock_timestamp()
      returning person_id as person`;
    return link ? { person: link.person, authUser: await ensureAuthUser(sql, link.person) } : null;
  });
}

/**
 * Use the first owner's link: its bearer becomes the person they say they are, and the owner.
 *
 * There is one first owner: the lock puts two links in a queue, and the second finds an owner.
 */
export async function claimFirstOwner(
  db: Db,
  token: string,
  who: { readonly email: string; readonly name: string },
): Promise<Claimed | null> {
  const workspace = await ensureWorkspace(db);
  return inWorkspace(db, workspace, async (tx) => {
    await tx.sql`select pg_advisory_xact_lock(${FIRST_OWNER_LOCK})`;
    const [link] = await tx.sql`
      update auth_links set used_at = clock_timestamp()
      where token_sha256 = ${sha256Hex(token)} and person_id is null
        and used_at is null and expires_at > clock_timestamp() and not holdpoint_owner_exists()
      returning token_sha256`;
    if (!link) return null;
    const { person } = await addPerson(tx, workspace, who.email, "owner", who.name);
    const authUser = await ensureAuthUser(tx.sql, person);
    await tx.sql`delete from auth_links where person_id is null and used_at is null`;
    return { person, authUser };
  });
}

/** A new link for the first owner, instead of any earlier one; null when there is an owner. */
export async function makeFirstOwnerToken(db: Db): Promise<string | null> {
  const workspace = await ensureWorkspace(db);
  return inWorkspace(db, workspace, async (tx) => {
    await tx.sql`select pg_advisory_xact_lock(${FIRST_OWNER_LOCK})`;
    await tx.sql`delete from auth_links where person_id is null and used_at is null`;
    const [row] = await tx.sql<{ exists: boolean }[]>`select holdpoint_owner_exists() as exists`;
    return row?.exists ? null : makeSignInToken(tx, workspace, null);
  });
}

/** Whether this link signed this user in within the last half hour: whoever holds it may set the password. */
export async function linkSignedIn(db: Db, token: string, authUser: string): Promise<boolean> {
  return acrossWorkspaces(db, async (sql) => {
    const [row] = await sql<{ yes: boolean }[]>`
      select exists (
        select from auth_links l join auth_users u on u.id = ${authUser}
        where l.token_sha256 = ${sha256Hex(token)} and l.used_at > clock_timestamp() - interval '30 minutes'
          and (l.person_id = u.person_id or l.person_id is null and u.created_at >= l.used_at)) as yes`;
    return row?.yes === true;
  });
}

/** End every session of a user but one. */
export async function endOtherSessions(db: Db, authUser: string, keptSession: string): Promise<void> {
  await acrossWorkspaces(
    db,
    (sql) => sql`delete from auth_sessions where user_id = ${authUser} and id <> ${keptSession}`,
  );
}

/** The person's row in sign-in's own table; made on their first sign-in. */
async function ensureAuthUser(sql: TransactionSql, person: string): Promise<string> {
  const [known] = await sql<{ id: string }[]>`select id from auth_users where person_id = ${person}`;
  if (known) return known.id;
  const [made] = await sql<{ id: string }[]>`
    insert into auth_users (id, name, email, email_verified, person_id)
    select ${randomUUID()}, name, lower(email::text), true, id from people where id = ${person}
    on conflict (email) do update set person_id = excluded.person_id
    returning id`;
  if (!made) throw new Error("the sign-in's user could not be made");
  return made.id;
}
