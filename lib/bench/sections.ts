import { connect } from "@/db/client";
import { measureHistory, type Readings } from "./history";
import { measureInbox } from "./inbox";
import { measureLatency } from "./latency";
import { median } from "./load";
import { type Ground, LANES, measureClaims, measureIdle, measureRates, overRounds } from "./mailbox";
import { QUEUE_NAMES } from "./queues/open";
import { type Bench, type Compared, compareVerbs, costOfApproval } from "./verbs";

const ROUNDS = 3;
const TIMES = 400;
const TICKETS = 100_000;
const HISTORIES = [10_000, 300_000] as const;
const JOBS = 1_000;
const CLAIMS = 400;
const GROUNDS: readonly Ground[] = [
  { rows: 0, passing: 0 },
  { rows: 10_000, passing: 0 },
  { rows: 1_000_000, passing: 0 },
  { rows: 1_000_000, passing: 5_000 },
];

export interface Where {
  readonly bench: Bench;
  /** The app's address, and the owner's. */
  readonly url: string;
  readonly ownerUrl: string;
}

/** What the benchmark prints, by the words that ask for it. The mailbox leaves a million rows behind and comes last. */
export const SECTIONS: Readonly<Record<string, (where: Where) => Promise<void>>> = {
  verbs: reportVerbs,
  approval: reportApproval,
  click: reportClick,
  history: reportHistory,
  inbox: reportInbox,
  mailbox: reportMailbox,
};

async function reportVerbs({ bench }: Where): Promise<void> {
  await compareVerbs(bench, 4, 50);
  say("| verb | clients | ours a second | by hand a second | ours / by hand |");
  say("|---|---|---|---|---|");
  for (const clients of [1, 16]) {
    const rounds: (readonly Compared[])[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      rounds.push(await compareVerbs(bench, clients, clients === 1 ? TIMES / 2 : TIMES * 2));
    for (const [index, { verb }] of (rounds[0] ?? []).entries()) {
      const of = (pick: (compared: Compared) => number) =>
        median(rounds.flatMap((round) => (round[index] ? [pick(round[index])] : [])));
      const ratio = of(({ ours, limit }) => ours.perSecond / limit.perSecond);
      say(
        `| ${verb} | ${clients} | ${of((c) => c.ours.perSecond).toFixed(0)} | ${of((c) => c.limit.perSecond).toFixed(0)} | ${ratio.toFixed(2)} |`,
      );
    }
  }
}

async function reportApproval({ bench, url }: Where): Promise<void> {
  // Without a notifier: its notices are commits too, but flush nothing and hold nobody up.
  const quiet = await connect(url, { role: "holdpoint_worker", max: 2 });
  const cost = await costOfApproval({ ...bench, db: quiet }, 100).finally(() => quiet.close());
  say(
    `\none approval of a client run: ${cost.commits.toFixed(1)} write commits, ${cost.rows.toFixed(1)} rows, ${(cost.walBytes / 1_024).toFixed(1)} KiB of WAL`,
  );
}

async function reportClick({ bench, url }: Where): Promise<void> {
  const latency = await measureLatency(bench, url, 100);
  say(
    `Allow clicked → the worker's file is there, idle: p50 ${latency.p50.toFixed(1)} ms, p99 ${latency.p99.toFixed(1)} ms`,
  );
}

async function reportHistory({ bench }: Where): Promise<void> {
  const grown: Readings[] = [];
  for (const [place, runs] of HISTORIES.entries())
    grown.push(await measureHistory(bench, HISTORIES[place - 1] ?? 0, runs));
  say(`\n| read, median ms | ${HISTORIES.map((runs) => `${runs} runs`).join(" | ")} |`);
  say(`|---|${HISTORIES.map(() => "---|").join("")}`);
  for (const name of grown[0]?.keys() ?? []) {
    const cells = grown.map((readings) => readings.get(name)?.toFixed(1) ?? "");
    say(`| ${name} | ${cells.join(" | ")} |`);
  }
}

async function reportInbox({ bench }: Where): Promise<void> {
  const inbox = await measureInbox(bench, TICKETS);
  say(
    `inbox with ${TICKETS} open tickets: first page ${inbox.first.toFixed(1)} ms, at 90 % depth ${inbox.deep.toFixed(1)} ms, ` +
      `the counts beside it ${inbox.counts.toFixed(1)} ms; the bare keyset query by hand ${inbox.byHand.toFixed(1)} ms`,
  );
}

async function reportMailbox({ bench, url, ownerUrl }: Where): Promise<void> {
  const address = { url, ownerUrl, lanes: LANES };
  await measureRates(address, JOBS / 10);
  const rounds: Awaited<ReturnType<typeof measureRates>>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRates(address, JOBS));
  say("\n| queue | enqueue a second | claim + ack, 1 process | 2 processes |");
  say("|---|---|---|---|");
  for (const name of QUEUE_NAMES) {
    const cells = (["enqueue", "one", "two"] as const).map((of) => {
      const { rate, ratio } = overRounds(rounds, name, of);
      return `${rate.toFixed(0)} (${ratio.toFixed(2)})`;
    });
    say(`| ${name} | ${cells.join(" | ")} |`);
  }
  const idle = await measureIdle(address, TIMES / 8);
  say("\n| queue | idle, enqueue → handler: p50 ms | p99 ms |");
  say("|---|---|---|");
  for (const [name, { p50, p99 }] of idle) say(`| ${name} | ${p50.toFixed(1)} | ${p99.toFixed(1)} |`);
  const claims = await measureClaims(bench.admin, address, GROUNDS, CLAIMS);
  const heads = GROUNDS.map(({ rows, passing }) => `${rows} rows${passing > 0 ? ", old snapshot" : ""}`);
  say(`\n| one claim, p50 / p99 ms | ${heads.join(" | ")} |`);
  say(`|---|${GROUNDS.map(() => "---|").join("")}`);
  for (const name of QUEUE_NAMES) {
    const cells = claims.map((ground) => {
      const { p50 = Number.NaN, p99 = Number.NaN } = ground.get(name) ?? {};
      return `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
    });
    say(`| ${name} | ${cells.join(" | ")} |`);
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
