import { type Db, inWorkspaceByKey, type Tx } from "@/db/client";

/** Show what a run's model is just saying. It counts for nothing: the committed messages do. */
export async function showLiveText(db: Db, workspace: string, run: string, step: number, text: string): Promise<void> {
  await inWorkspaceByKey(db, workspace, async (tx) => {
    tx.touched.add(run);
    await tx.sql`
      insert into live_texts (workspace_id, run, step, text) values (${tx.workspace}, ${run}, ${step}, ${text})
      on conflict (workspace_id, run)
      do update set step = excluded.step, text = excluded.text, updated_at = clock_timestamp()`;
  });
}

/** In the transaction that commits the step: what was said is the thread's from there on. */
export async function dropLiveText(tx: Tx, run: string): Promise<void> {
  await tx.sql`delete from live_texts where workspace_id = ${tx.workspace} and run = ${run}`;
}
