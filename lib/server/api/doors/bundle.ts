import { readBundle } from "@/db/queries/bundle";
import { stored } from "@/lib/protocol/book/stored";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { refusal } from "@/lib/protocol/refusals";
import { bundleAnswer } from "@/lib/protocol/wire/bundle";
import { refuse } from "@/lib/result";
import { decisionJson, runStateJson, ticketJson } from "../answers";
import { defineDoor } from "../door";
import { present } from "../problem";
import { readableRun } from "../reading";

export const bundleDoor = defineDoor({
  method: "GET",
  path: "/api/v1/runs/{run_id}/bundle",
  summary: "Everything on record about one run, in one file that can be checked offline.",
  verb: "read_bundle",
  repeats: "none",
  answer: bundleAnswer,
  statuses: [200],
  open: async ({ db, caller, params }) => {
    const run = await readableRun(db, caller, "read_bundle", params.run_id ?? "");
    if (!run.ok) return run;
    const bundle = await readBundle(db, caller.workspace, run.value.runId);
    if (!bundle) return refuse(refusal("unknown_run"));
    const json = {
      v: 1,
      kind: "bundle",
      workspace_id: caller.workspace,
      run_id: bundle.run.runId,
      run: runStateJson(bundle),
      tickets: bundle.allTickets.map(ticketJson),
      proposals: bundle.proposals.map(({ callRef, action, args, target, ...proposal }) => ({
        call_ref: callRef,
        action,
        args: stored(args),
        output: stored(target),
        proposal_hash: proposal.proposalHash,
        approval_hash: proposal.approvalHash,
        approval_request_id: proposal.approvalRequestId,
      })),
      decisions: bundle.decisions.map(decisionJson),
      refusals: bundle.refusals.map((row) => present({ ...row, seq: row.seq ?? undefined })),
      // The texts as they were hashed, so that a verifier needs no canonicaliser of its own.
      trace: bundle.trace.map(({ text, hash }) => ({ text, hash })),
    };
    // A run id may hold only characters that are safe in a file's name, but for the colon that some systems refuse.
    const name = `holdpoint-${bundle.run.runId.replaceAll(":", "-")}.json`;
    return new Response(canonicalJson(json), {
      status: 200,
      headers: {
        "content-type": "application/json; charset=utf-8",
        "content-disposition": `attachment; filename="${name}"`,
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      },
    });
  },
});
