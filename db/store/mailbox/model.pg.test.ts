import fc from "fast-check";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type Db } from "@/db/client";
import { figure } from "@/db/testing/figure";
import type { Mailbox } from "@/db/testing/mailbox";
import type { MailboxCommand } from "@/db/testing/mailbox-model";
import { type MailboxMutant, runMailboxTrial } from "@/db/testing/mailbox-model-run";
import { pgMailbox } from "@/db/testing/pg-mailbox";
import { stopClock } from "@/db/testing/stopped-clock";
import { newWorld, type World } from "@/db/testing/world";

let world: World;
let admin: postgres.Sql;
let db: Db;
let box: Mailbox;
beforeAll(async () => {
  world = await newWorld(4);
  admin = postgres(world.adminUrl, { max: 1, onnotice: () => undefined });
  await stopClock(admin);
  db = await connect(world.appUrl, { role: "holdpoint_worker", max: 4 });
  box = pgMailbox(db, world.system, world.operator);
});
afterAll(async () => {
  await db.close();
  await admin.end();
  await world.close();
});

const nth = fc.nat(30);
const worker = fc.nat(3);
const mailbox = fc.nat(1);
const command: fc.Arbitrary<MailboxCommand> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("enqueue" as const),
      box: mailbox,
      priority: fc.constantFrom(1, 128, 200),
      dedupe: fc.boolean(),
      last: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("claim" as const), worker, box: fc.option(mailbox) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "ack" as const,
        "nack" as const,
        "give up" as const,
        "defer" as const,
        "extend" as const,
        "start" as const,
      ),
      worker,
      nth,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("cancel" as const, "requeue" as const, "expire" as const, "reach the end" as const),
      nth,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("interrupt" as const), box: mailbox }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("sweep" as const, "ripen" as const) }) },
);
const trials = fc.array(command, { minLength: 45, maxLength: 60, size: "max" });

const TRIALS = 420;

test("random commands of four workers, an operator and time: the mailbox answers and stands as the model says", async () => {
  const seed = Date.now();
  let commands = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(trials, async (sequence) => {
      const trial = await runMailboxTrial(box, admin, sequence);
      commands += trial.commands;
      refused += trial.refused;
      expect(trial.divergence).toBeNull();
    }),
    { seed, numRuns: TRIALS, interruptAfterTimeLimit: 400_000 },
  );
  figure("the mailbox's model", `${commands} random commands, ${refused} refused, 0 divergences (seed ${seed})`);
  expect(commands).toBeGreaterThan(20_000);
}, 420_000);

const MUTANTS: readonly MailboxMutant[] = [
  "no token",
  "no expiry",
  "no generation",
  "no attempt at the claim",
  "reports refused at the lease's end",
  "leases swept at their end",
];

test.each(MUTANTS)(
  "a mailbox with %s is caught by the model",
  async (mutant) => {
    for (const sequence of fc.sample(trials, { numRuns: 60, seed: 7 })) {
      const trial = await runMailboxTrial(box, admin, sequence, mutant);
      if (trial.divergence !== null) return;
    }
    throw new Error("the model noticed nothing");
  },
  120_000,
);
