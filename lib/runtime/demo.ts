import { type Db, inWorkspace } from "@/db/client";
import { ensurePrincipal, ensureWorkspace, localCaller } from "@/db/store/identity";
import type { Caller } from "@/lib/protocol/principal";
import { startRecording } from "./recorded-agent";
import type { RecordedCall, RecordedStep, Recording } from "./recording";

interface DemoThread {
  readonly agent: string;
  readonly allowed: readonly string[];
  readonly recording: Recording;
}

/**
 * Put something to approve into an installation that nobody has used yet: four invented agents, each with a thread that the real
 * worker replays. Nothing outside is touched. Does nothing when the workspace has a run already, unless it is asked for.
 */
export async function seedDemo(db: Db, always: boolean): Promise<boolean> {
  const workspace = await ensureWorkspace(db);
  const isUsed = await inWorkspace(db, workspace, async (tx) => {
    const [run] =
      await tx.sql`select from runs where workspace_id = ${workspace} ${always ? tx.sql`and is_demo` : tx.sql``} limit 1`;
    return run !== undefined;
  });
  if (isUsed) return false;
  const cli = await localCaller(db, workspace, "cli", "demo", "cli");
  for (const thread of DEMO) await startDemoThread(db, cli, thread);
  return true;
}

async function startDemoThread(db: Db, cli: Caller, { agent, allowed, recording }: DemoThread): Promise<void> {
  const principal = await inWorkspace(db, cli.workspace, async (tx) => ensurePrincipal(tx, "agent", `demo:${agent}`));
  // A demo agent has no key: nobody can act as it, and it acts through the worker alone.
  const caller: Caller = {
    workspace: cli.workspace,
    principal,
    kind: "agent",
    role: null,
    person: null,
    display: agent,
    surface: "cli",
    credential: null,
  };
  const started = await startRecording(db, caller, cli, recording, { agent, runId: null, allowed, isDemo: true });
  if (!started.ok) throw new Error(`the demo could not be started: ${started.refusal.code}`);
}

type Spoken = Pick<RecordedCall, "tool" | "args"> & Partial<RecordedCall>;

function call({ tool, args, ...more }: Spoken): RecordedCall {
  return { callId: null, tool, args, output: null, result: "ok", error: null, risk: "medium", why: null, ...more };
}

function step(message: string | null, ...calls: readonly Spoken[]): RecordedStep {
  return { kind: "calls", message, calls: calls.map(call) };
}

const REFUND: DemoThread = {
  agent: "refund-desk",
  allowed: ["find_order"],
  recording: {
    thread: "demo/refund",
    model: "invented",
    steps: [
      step("The lamp from order L-2041 came broken. Can I have my money back?", {
        tool: "find_order",
        args: { order: "L-2041" },
        result: '{"order":"L-2041","item":"Desk lamp, brass","paid":48.2,"card":"card_77f0","delivered":"2026-11-24"}',
        risk: "low",
      }),
      step(null, {
        tool: "refund_payment",
        args: { order: "L-2041", amount: 48.2, reason: "arrived broken" },
        output: "card:card_77f0",
        result: '{"refund":"rf_5510","state":"accepted"}',
        risk: "high",
        why: "The order was delivered six days ago and the customer says that the lamp is broken, so the whole price goes back.",
      }),
      step(null, {
        tool: "send_message",
        args: { to: "customer of L-2041", text: "We have returned 48.20 to your card. It takes two to three days." },
        output: "order:L-2041",
        result: "sent",
        why: "The customer should know when the money comes.",
      }),
    ],
  },
};

const BRANCHES: DemoThread = {
  agent: "branch-keeper",
  allowed: ["list_branches"],
  recording: {
    thread: "demo/branches",
    model: "invented",
    steps: [
      step("Please clean up branches that were merged more than a month ago.", {
        tool: "list_branches",
        args: { repository: "garden/planner", merged: true },
        result: '["feature/frost-alarm","fix/leap-day","release/2.1"]',
        risk: "low",
      }),
      step(
        null,
        {
          tool: "delete_branch",
          args: { branch: "feature/frost-alarm" },
          output: "garden/planner#feature/frost-alarm",
          result: "deleted",
        },
        {
          tool: "delete_branch",
          args: { branch: "fix/leap-day" },
          output: "garden/planner#fix/leap-day",
          result: "deleted",
        },
        {
          tool: "delete_branch",
          args: { branch: "release/2.1" },
          output: "garden/planner#release/2.1",
          result: "deleted",
          risk: "high",
          why: "It was merged five weeks ago like the others.",
        },
      ),
    ],
  },
};

const NEWSLETTER: DemoThread = {
  agent: "newsletter-writer",
  allowed: [],
  recording: {
    thread: "demo/newsletter",
    model: "invented",
    steps: [
      {
        kind: "question",
        message: "Send the December letter to our readers.",
        question: "The December letter is ready. To which list should it go?",
        schema: {
          type: "object",
          properties: {
            list: { type: "string", enum: ["all readers", "members only", "test list"] },
            send_copy_to_me: { type: "boolean" },
          },
          required: ["list"],
          additionalProperties: false,
        },
      },
      step(null, {
        tool: "send_newsletter",
        args: { subject: "What to plant in December", body: "Broad beans, garlic, and patience.", list: "as answered" },
        output: "list:as-answered",
        result: '{"queued":1204}',
        risk: "high",
        why: "The letter was proofread and the list was answered by a person.",
      }),
    ],
  },
};

/** Text that hides what it does: the console shows every character of it. */
const HIDDEN: DemoThread = {
  agent: "shell-helper",
  allowed: [],
  recording: {
    thread: "demo/shell",
    model: "invented",
    steps: [
      step("How much space is left in the reports folder?", {
        tool: "run_command",
        args: {
          command: `du -sh /srv/reports${" ".repeat(120)}; rm -rf /srv/reports/\u202Efdp.*\u202C`,
          host: "files-01",
        },
        output: "host:files-01",
        result: "412M /srv/reports",
        risk: "high",
        why: "Lists the size of the folder.",
      }),
    ],
  },
};

const DEMO: readonly DemoThread[] = [REFUND, BRANCHES, NEWSLETTER, HIDDEN];
