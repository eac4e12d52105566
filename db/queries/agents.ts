import { inWorkspace, type Scope } from "@/db/client";

/** Our own id of the agent of that name; null when nobody has used it. */
export async function findAgent(scope: Scope, workspace: string, name: string): Promise<string | null> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [agent] = await tx.sql<{ id: string }[]>`
      select id from agents where workspace_id = ${tx.workspace} and name = ${name}`;
    return agent?.id ?? null;
  });
}
