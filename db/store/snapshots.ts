import { v7 as newId } from "uuid";
import { inWorkspace, type Scope, type Tx } from "@/db/client";
import { checkDefinition } from "@/lib/protocol/agent-definition";
import { canonicalJson, hashJson, type JsonValue } from "@/lib/protocol/canonical-json";
import type { Sha256 } from "@/lib/protocol/hash";
import { may } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, refusal } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";
import { type Refused, recordRefusal } from "./refuse";

/** What an agent is made of, at one moment. Absent parts are null. Source: http-api "snapshots". */
export interface SnapshotContent {
  readonly provider: string | null;
  readonly model: string | null;
  readonly mcpServers: JsonValue;
  readonly tools: readonly { readonly name: string; readonly [field: string]: JsonValue }[];
  readonly build: string | null;
  /** How an agent of the worker goes on, as `lib/protocol/agent-definition` has it; one that runs elsewhere has none. */
  readonly definition?: JsonValue;
}

export interface PublishedSnapshot {
  readonly snapshotId: string;
  readonly catalogFingerprint: Sha256;
  /** The same content was published before; its id is returned. */
  readonly known: boolean;
}

export const EMPTY_SNAPSHOT: SnapshotContent = {
  provider: null,
  model: null,
  mcpServers: null,
  tools: [],
  build: null,
};

/**
 * Freeze an agent's content. The same content gives the same id. Registers the agent when nobody has its name yet.
 * Refused: `not_permitted` where the name is another's, `invalid_body` for a definition of another shape.
 */
export async function publishSnapshot(
  scope: Scope,
  caller: Caller,
  agent: string,
  content: SnapshotContent,
): Promise<Result<PublishedSnapshot, Refused>> {
  return inWorkspace(scope, caller.workspace, async (tx) => {
    const turnDown = async (why: Refusal) =>
      refuse(await recordRefusal(tx, caller, { verb: "publish_snapshot", input: { agent } }, why, null));
    if (may(caller, "publish_snapshot") === "no") return turnDown(refusal("not_permitted"));
    const checked = content.definition === undefined ? null : checkDefinition(content.definition, content.tools);
    if (checked && !checked.ok) return turnDown(checked.refusal);
    const agentId = await agentFor(tx, caller, agent);
    if (agentId === null) return turnDown(refusal("not_permitted"));
    return ok(await insertSnapshot(tx, agentId, agent, content));
  });
}

/** The tools in name order: the catalogue whose hash is the fingerprint. Source: protocol §1 "Agent". */
export function catalogOf(tools: SnapshotContent["tools"]) {
  const sorted = [...tools].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return { catalog: canonicalJson(sorted), fingerprint: hashJson(sorted) };
}

export async function insertSnapshot(
  tx: Tx,
  agentId: string,
  agent: string,
  content: SnapshotContent,
): Promise<PublishedSnapshot> {
  const { catalog, fingerprint } = catalogOf(content.tools);
  const { provider, model, build } = content;
  const contentHash = hashJson({
    v: 1,
    kind: "agent_snapshot",
    agent,
    provider,
    model,
    mcp_servers: content.mcpServers,
    catalog_fingerprint: fingerprint,
    build,
    // Only where there is one: what was published before definitions existed keeps its id.
    ...(content.definition === undefined ? {} : { definition: content.definition }),
  });
  const snapshotId = `snap_${contentHash.slice(0, 24)}`;
  const inserted = await tx.sql`insert into agent_snapshots ${tx.sql({
    workspaceId: tx.workspace,
    snapshotId,
    agentId,
    contentHash,
    catalogFingerprint: fingerprint,
    catalog,
    provider,
    model,
    mcpServers: content.mcpServers === null ? null : canonicalJson(content.mcpServers),
    build,
    definition: content.definition === undefined ? null : canonicalJson(content.definition),
  })} on conflict do nothing`;
  return { snapshotId, catalogFingerprint: fingerprint, known: inserted.count === 0 };
}

/** An agent's name belongs to the first principal that uses it, or to those an owner names; null when it is another's. */
export async function agentFor(tx: Tx, caller: Caller, name: string): Promise<string | null> {
  await tx.sql`insert into agents ${tx.sql({
    workspaceId: tx.workspace,
    id: newId(),
    name,
    ownerPrincipalId: caller.principal,
  })} on conflict (workspace_id, name) do nothing`;
  const [agent] = await tx.sql<{ id: string; mine: boolean }[]>`
    select a.id, a.owner_principal_id = ${caller.principal} or exists (
      select from agent_owners o where o.workspace_id = a.workspace_id and o.agent_id = a.id
        and o.principal_id = ${caller.principal}) as mine
    from agents a where a.workspace_id = ${tx.workspace} and a.name = ${name}`;
  return agent?.mine ? agent.id : null;
}
