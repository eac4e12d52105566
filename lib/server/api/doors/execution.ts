import { beginCall, completeCall, renewCall } from "@/db/store/execute";
import { settle, withdrawCall } from "@/db/store/operate";
import { stored } from "@/lib/protocol/book/stored";
import { canonicalJson, type JsonValue } from "@/lib/protocol/canonical-json";
import {
  type BeginBody,
  beginAnswer,
  beginBody,
  type CompleteBody,
  callAnswer,
  completeBody,
  type RenewBody,
  renewAnswer,
  renewBody,
  type SettleBody,
  settleBody,
  type WithdrawBody,
  withdrawBody,
} from "@/lib/protocol/wire/calls";
import { ok } from "@/lib/result";
import { callFactsJson } from "../answers";
import { defineDoor } from "../door";
import { present } from "../problem";

/** What begin and renew grant when nothing else is asked. Source: protocol §6 "Lease". */
const USUAL_LEASE_MS = 60_000;

export const beginDoor = defineDoor<BeginBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/calls/{call}/begin",
  summary: "Claim the right to execute an approved call, once. `executing` is committed when this answers.",
  verb: "begin",
  repeats: "own",
  body: beginBody,
  answer: beginAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body, request }) => {
    const done = await beginCall(scope, caller, params.run_id ?? "", params.call ?? "", {
      requestId: body.request_id,
      action: body.action,
      args: canonicalJson(body.args),
      output: canonicalJson(body.output),
      worker: body.worker ?? null,
      key: request.headers.get("idempotency-key"),
      leaseMs: body.lease_ms ?? USUAL_LEASE_MS,
      snapshotId: body.snapshot_id ?? null,
      catalogFingerprint: body.catalog_fingerprint ?? null,
    });
    if (!done.ok) return done;
    const begun = done.value.value;
    if (!begun.granted) {
      const { result, error } = begun.call;
      return ok({
        status: 200,
        json: present({ result: "already_completed", output: text(result), error: text(error) }),
      });
    }
    const { attempt, effectKey, leaseUntil, note } = begun;
    const grant = { attempt, idempotency_key: effectKey, lease_until: leaseUntil, note: note ?? undefined };
    return ok({ status: 200, json: present(grant) });
  },
});

export const renewDoor = defineDoor<RenewBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/calls/{call}/renew",
  summary: "Move the lease of a live attempt.",
  verb: "renew",
  repeats: "own",
  body: renewBody,
  answer: renewAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) => {
    const leaseMs = body.lease_ms ?? USUAL_LEASE_MS;
    const done = await renewCall(scope, caller, params.run_id ?? "", params.call ?? "", body.attempt, leaseMs);
    return done.ok ? ok({ status: 200, json: { lease_until: done.value.value } }) : done;
  },
});

export const completeDoor = defineDoor<CompleteBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/calls/{call}/complete",
  summary: "Report what an attempt did. Accepted late, and after the run has ended.",
  verb: "complete",
  repeats: "own",
  body: completeBody,
  answer: callAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) => {
    const done = await completeCall(scope, caller, params.run_id ?? "", params.call ?? "", {
      attempt: body.attempt,
      output: body.output === undefined ? null : canonicalJson(body.output),
      error: body.error === undefined ? null : canonicalJson(body.error),
      recovered: false,
    });
    return done.ok ? ok({ status: 200, json: callFactsJson(done.value.value.call) }) : done;
  },
});

export const withdrawDoor = defineDoor<WithdrawBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/calls/{call}/withdraw",
  summary: "Take back a call that nobody has begun.",
  verb: "withdraw",
  repeats: "stored",
  body: withdrawBody,
  answer: callAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) => {
    const done = await withdrawCall(scope, caller, params.run_id ?? "", params.call ?? "", body.reason);
    return done.ok ? ok({ status: 200, json: callFactsJson(done.value.value) }) : done;
  },
});

export const settleDoor = defineDoor<SettleBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/calls/{call}/settle",
  summary: "Say, with evidence, what became of an effect that nobody reported. Never by the executor.",
  verb: "settle",
  repeats: "stored",
  body: settleBody,
  answer: callAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) => {
    const done = await settle(scope, caller, params.run_id ?? "", params.call ?? "", {
      verdict: body.verdict,
      output: body.output === undefined ? null : canonicalJson(body.output),
      evidence: body.evidence,
    });
    return done.ok ? ok({ status: 200, json: callFactsJson(done.value.value) }) : done;
  },
});

function text(json: string | null): JsonValue | undefined {
  return json === null ? undefined : stored(json);
}
