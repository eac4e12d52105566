import { stored } from "@/lib/protocol/book/stored";
import { DEFAULT_POLICY, type Policy } from "@/lib/protocol/permission-rule";

/** A version's row is immutable, so what was read once may be kept: by its id and number, a few hundred at most. */
const known = new Map<string, Policy>();
const MOST_KNOWN = 500;

export interface PolicyRow {
  readonly policyId: string | null;
  readonly version: number | null;
  readonly document: string | null;
}

/** The rules that judge a run's agent now; an agent without any is asked about everything. */
export function readPolicy(workspace: string, { policyId, version, document }: PolicyRow): Policy {
  if (policyId === null || version === null || document === null) return DEFAULT_POLICY;
  const key = `${workspace}/${policyId}/${version}`;
  const cached = known.get(key);
  if (cached) return cached;
  const policy = { ...(stored(document) as unknown as Omit<Policy, "version">), version };
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, policy);
  return policy;
}
