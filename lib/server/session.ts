import "server-only";
import { headers } from "next/headers";
import { cache } from "react";
import { readMemberships } from "@/db/queries/membership";
import type { Caller } from "@/lib/protocol/principal";
import { signInLibrary } from "./auth";
import { database } from "./database";

/** Who is signed in, before it is known whether they may do anything. */
export interface SignedIn {
  readonly session: string;
  readonly authUser: string;
  readonly person: string | null;
  readonly email: string;
}

/** The request's session, read from the database: one that was ended a moment ago is gone. */
export const currentSession = cache(async (): Promise<SignedIn | null> => {
  const found = await signInLibrary().api.getSession({ headers: await headers(), query: { disableCookieCache: true } });
  if (!found) return null;
  const { session, user } = found;
  return { session: session.id, authUser: user.id, person: user.personId ?? null, email: user.email };
});

/**
 * Who calls, with their role as it stands now; null for nobody, and for a person without a live membership.
 * Read once a request, never kept for the next.
 */
export const currentCaller = cache(async (): Promise<Caller | null> => {
  const signedIn = await currentSession();
  if (signedIn?.person == null) return null;
  const [member] = await readMemberships(await database(), signedIn.person);
  if (!member) return null;
  return {
    workspace: member.workspaceId,
    principal: member.principalId,
    kind: "person",
    role: member.role,
    person: signedIn.person,
    display: member.personName,
    surface: "console",
    credential: signedIn.session,
  };
});
