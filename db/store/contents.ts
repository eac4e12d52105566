import type { Tx } from "@/db/client";
import { sha256Hex } from "@/lib/protocol/hash";

export interface Content {
  readonly kind: string;
  readonly text: string;
}

/** Keep texts that events name by their hash. The same text of one kind is kept once. */
export async function keepContents(tx: Tx, contents: readonly Content[]): Promise<void> {
  if (contents.length === 0) return;
  const rows = new Map<string, ReturnType<typeof contentRow>>();
  for (const content of contents) {
    const row = contentRow(tx.workspace, content);
    rows.set(`${row.kind}:${row.sha256}`, row);
  }
  await tx.sql`insert into contents ${tx.sql([...rows.values()])} on conflict do nothing`;
}

function contentRow(workspaceId: string, { kind, text }: Content) {
  const bytes = Buffer.from(text, "utf8");
  return { workspaceId, sha256: sha256Hex(bytes), kind, bytes, size: bytes.length };
}
