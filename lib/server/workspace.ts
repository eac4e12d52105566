import "server-only";
import { readMemberships } from "@/db/queries/membership";
import type { Caller } from "@/lib/protocol/principal";
import { database } from "./database";

/** The name that the caller's workspace goes by in addresses and in the side bar. */
export async function workspaceName(caller: Caller): Promise<string> {
  const memberships = await readMemberships(await database(), caller.person ?? "");
  return memberships.find((member) => member.workspaceId === caller.workspace)?.slug ?? "";
}
