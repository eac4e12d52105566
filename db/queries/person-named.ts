import { inWorkspace, type Scope } from "@/db/client";

/** Whether the workspace has this person, by id or e-mail. */
export async function hasPerson(scope: Scope, workspace: string, named: string): Promise<boolean> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [person] = await tx.sql`
      select from people p join members m on m.person_id = p.id and m.workspace_id = ${workspace}
      where p.id::text = ${named} or p.email = ${named}::citext`;
    return person !== undefined;
  });
}
