import { acrossWorkspaces, type Db } from "@/db/client";
import type { Role } from "@/lib/protocol/principal";

/** What a person is in a workspace, as it stands now. */
export interface Membership {
  readonly workspaceId: string;
  readonly slug: string;
  readonly role: Role;
  readonly principalId: string;
  readonly personName: string;
}

/** A person's live memberships, the oldest workspace first. Never cached: a right taken away is gone at once. */
export async function readMemberships(db: Db, person: string): Promise<readonly Membership[]> {
  return acrossWorkspaces(
    db,
    (sql) => sql<Membership[]>`
      select m.workspace_id, m.slug, m.role, m.principal_id, p.name as person_name
      from holdpoint_memberships(${person}) m join people p on p.id = ${person}
      where m.principal_id is not null and not m.suspended`,
  );
}
