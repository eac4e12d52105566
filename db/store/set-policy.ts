import { v7 as newId } from "uuid";
import { inWorkspace, type Scope } from "@/db/client";
import { canonicalJson, hashJson } from "@/lib/protocol/canonical-json";
import { may } from "@/lib/protocol/may";
import type { PermissionRule, Policy } from "@/lib/protocol/permission-rule";
import type { Caller } from "@/lib/protocol/principal";
import { refusal } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";
import { type Refused, recordRefusal } from "./refuse";

/**
 * Give an agent the rules it is judged by: a new, immutable version. The same rules again are the version that stands.
 * Set by owners and the command line alone; an agent's own words never make its treatment laxer.
 */
export async function setPolicy(
  scope: Scope,
  caller: Caller,
  agentName: string,
  policy: Omit<Policy, "version">,
): Promise<Result<{ readonly version: number }, Refused>> {
  return inWorkspace(scope, caller.workspace, async (tx) => {
    if (may(caller, "manage_rules") !== "yes") {
      return refuse(
        await recordRefusal(
          tx,
          caller,
          { verb: "manage_rules", input: { agent: agentName } },
          refusal("not_permitted"),
          null,
        ),
      );
    }
    const [agent] = await tx.sql<{ id: string }[]>`
      select id from agents where workspace_id = ${tx.workspace} and name = ${agentName} for no key update`;
    if (!agent) throw new Error(`agent ${agentName} is not known: open a run of it or publish a snapshot first`);
    const rules = policy.rules.map(({ id, behaviour, tool }) => ({ id, behaviour, tool }));
    const document = { default: policy.default, rules };
    const [current] = await tx.sql<{ policyId: string; version: number; contentHash: string }[]>`
      select p.id as policy_id, p.current_version as version, v.content_hash
      from policies p join policy_versions v
        on v.workspace_id = p.workspace_id and v.policy_id = p.id and v.version = p.current_version
      where p.workspace_id = ${tx.workspace} and p.agent_id = ${agent.id}`;
    const contentHash = hashJson(document);
    if (current?.contentHash === contentHash) return ok({ version: current.version });
    const version = (current?.version ?? 0) + 1;
    const policyId = current?.policyId ?? newId();
    await tx.sql`
      insert into policies ${tx.sql({ workspaceId: tx.workspace, id: policyId, agentId: agent.id, currentVersion: version })}
      on conflict (workspace_id, agent_id) do update set current_version = excluded.current_version`;
    await tx.sql`insert into policy_versions ${tx.sql({
      workspaceId: tx.workspace,
      policyId,
      version,
      document: canonicalJson(document),
      contentHash,
      createdBy: caller.display,
    })}`;
    return ok({ version });
  });
}

/** An allow list as rules: these tools pass, everything else asks. */
export function allowList(tools: readonly string[]): readonly PermissionRule[] {
  return [...new Set(tools)].sort().map((tool) => ({ id: `allow:${tool}`, behaviour: "allow", tool }));
}
