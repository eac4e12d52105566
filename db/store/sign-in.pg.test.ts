import postgres from "postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect, type Db } from "@/db/client";
import { readMemberships } from "@/db/queries/membership";
import { type FreshDatabase, freshDatabase } from "@/db/testing/fresh-database";
import { addPerson, ensureWorkspace, makeSignInToken } from "./identity";
import {
  claimFirstOwner,
  claimSignInLink,
  endOtherSessions,
  linkSignedIn,
  makeFirstOwnerToken,
  readSignInLink,
} from "./sign-in";

const ADA = { email: "Ada@hold.example", name: "Ada" };
let fresh: FreshDatabase;
let db: Db;
let admin: postgres.Sql;
let workspace = "";

beforeAll(async () => {
  fresh = await freshDatabase();
  db = await connect(fresh.appUrl, { role: "holdpoint_app", max: 20 });
  admin = postgres(fresh.adminUrl, { max: 1, onnotice: () => undefined });
  workspace = await ensureWorkspace(db);
});
afterAll(async () => {
  await Promise.all([db.close(), admin.end()]);
  await fresh.drop();
});
beforeEach(async () => {
  await admin`truncate auth_links, auth_users cascade`;
  await admin`delete from members`;
});

async function firstOwnerToken(): Promise<string> {
  const token = await makeFirstOwnerToken(db);
  if (token === null) throw new Error("there is an owner");
  return token;
}

async function personToken(): Promise<{ token: string; person: string }> {
  const { person } = await addPerson(db, workspace, "bo@hold.example", "approver", "Bo");
  return { person, token: await makeSignInToken(db, workspace, person) };
}

describe("a person's link", () => {
  it("twenty claims at once: one signs in, and looking at it uses nothing up", async () => {
    const { token, person } = await personToken();
    expect(await readSignInLink(db, token)).toBe("person");
    const claims = await Promise.all(Array.from({ length: 20 }, () => claimSignInLink(db, token)));
    expect(claims.filter((claim) => claim !== null)).toEqual([expect.objectContaining({ person })]);
    expect(await readSignInLink(db, token)).toBeNull();
  });

  it("after its day it is dead", async () => {
    const { token } = await personToken();
    await admin`update auth_links set expires_at = clock_timestamp() - interval '1 second'`;
    expect(await readSignInLink(db, token)).toBeNull();
    expect(await claimSignInLink(db, token)).toBeNull();
  });

  it("the table holds its hash alone", async () => {
    const { token } = await personToken();
    const [row] = await admin<{ text: string }[]>`select to_jsonb(l)::text as text from auth_links l`;
    expect(row?.text).not.toContain(token);
  });

  it("a second link of the same person is the same user", async () => {
    const { token, person } = await personToken();
    const other = await makeSignInToken(db, workspace, person);
    const [one, two] = [await claimSignInLink(db, token), await claimSignInLink(db, other)];
    expect(one).toEqual(two);
  });

  it("it lets its own person set a password for half an hour, and nobody else", async () => {
    const { token } = await personToken();
    const ada = await claimFirstOwner(db, await firstOwnerToken(), ADA);
    expect(await linkSignedIn(db, token, ada?.authUser ?? "")).toBe(false);
    const bo = await claimSignInLink(db, token);
    expect(await linkSignedIn(db, token, bo?.authUser ?? "")).toBe(true);
    expect(await linkSignedIn(db, token, ada?.authUser ?? "")).toBe(false);
    await admin`update auth_links set used_at = used_at - interval '31 minutes'`;
    expect(await linkSignedIn(db, token, bo?.authUser ?? "")).toBe(false);
  });
});

describe("the first owner's link", () => {
  it("makes its bearer the owner, once", async () => {
    const token = await firstOwnerToken();
    expect(await readSignInLink(db, token)).toBe("first_owner");
    expect(await claimSignInLink(db, token)).toBeNull();
    const claimed = await claimFirstOwner(db, token, ADA);
    const [membership] = await readMemberships(db, claimed?.person ?? "");
    expect(membership).toMatchObject({ role: "owner", personName: "Ada", workspaceId: workspace });
    expect(await claimFirstOwner(db, token, { ...ADA, email: "eve@evil.example" })).toBeNull();
  });

  it("a new start's link cancels the one before", async () => {
    const old = await firstOwnerToken();
    const young = await firstOwnerToken();
    expect(await readSignInLink(db, old)).toBeNull();
    expect(await readSignInLink(db, young)).toBe("first_owner");
  });

  it("twenty bearers at once: one owner", async () => {
    const token = await firstOwnerToken();
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, index) => claimFirstOwner(db, token, { email: `p${index}@x.example`, name: "P" })),
    );
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
    const owners = await admin`select from members where role = 'owner'`;
    expect(owners).toHaveLength(1);
  });

  it("is dead, and is not made, once somebody who is an owner has signed in", async () => {
    const token = await firstOwnerToken();
    const { person } = await addPerson(db, workspace, "ida@hold.example", "owner", "Ida");
    await claimSignInLink(db, await makeSignInToken(db, workspace, person));
    expect(await readSignInLink(db, token)).toBeNull();
    expect(await claimFirstOwner(db, token, ADA)).toBeNull();
    expect(await makeFirstOwnerToken(db)).toBeNull();
  });
});

describe("a person's right", () => {
  it("is read anew: a changed role and a disabled membership count at once", async () => {
    const { person } = await addPerson(db, workspace, "bo@hold.example", "approver", "Bo");
    expect(await readMemberships(db, person)).toMatchObject([{ role: "approver" }]);
    await addPerson(db, workspace, "BO@hold.example", "operator", "Bo");
    expect(await readMemberships(db, person)).toMatchObject([{ role: "operator" }]);
    await admin`update members set disabled_at = clock_timestamp()`;
    expect(await readMemberships(db, person)).toEqual([]);
  });
});

describe("ending sessions", () => {
  it("ends all of the user's but the one that asks", async () => {
    const claimed = await claimFirstOwner(db, await firstOwnerToken(), ADA);
    const user = claimed?.authUser ?? "";
    for (const id of ["kept", "one", "two"]) {
      await admin`insert into auth_sessions (id, token, user_id, expires_at)
        values (${id}, ${id}, ${user}, clock_timestamp() + interval '1 day')`;
    }
    await endOtherSessions(db, user, "kept");
    expect(await admin`select id from auth_sessions`).toEqual([{ id: "kept" }]);
  });
});
