import fc from "fast-check";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { figure } from "@/db/testing/figure";
import type { Command } from "@/db/testing/model";
import { type Mutant, runTrial, type Trial } from "@/db/testing/model-run";
import { newWorld, traceTypes, type World } from "@/db/testing/world";
import { ON_EXPIRY } from "@/lib/protocol/call";

let world: World;
let admin: postgres.Sql;
beforeAll(async () => {
  world = await newWorld(12);
  admin = postgres(world.adminUrl, { max: 6, onnotice: () => undefined });
});
afterAll(async () => {
  await admin.end();
  await world.close();
});

const call = fc.nat({ max: 4 });
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("allow" as const, "begin" as const), call }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("deny" as const, "withdraw" as const, "replace" as const, "cancelTicket" as const),
      call,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("pastDeadline" as const, "lapse" as const), call }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("complete" as const),
      call,
      age: fc.nat({ max: 1 }),
      output: fc.constantFrom("a", "b", null),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("settle" as const), call, happened: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("finish" as const),
      status: fc.constantFrom("completed" as const, "failed" as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("sweep" as const, "pause" as const, "continue" as const, "nextStep" as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "cancelRun" as const }) },
);

const trial: fc.Arbitrary<Trial> = fc.record({
  coupled: fc.boolean(),
  classes: fc.array(fc.record({ safe: fc.boolean(), onExpiry: fc.constantFrom(...ON_EXPIRY) }), {
    minLength: 2,
    maxLength: 2,
  }),
  commands: fc.array(command, { minLength: 30, maxLength: 60, size: "max" }),
});

const COMMANDS = 20_000;
const LANES = 4;

test("random commands over two parallel calls: the store answers and stands as the model says", {
  timeout: 900_000,
}, async () => {
  let commands = 0;
  let refused = 0;
  const seed = Date.now();
  const lane = (index: number) =>
    fc.assert(
      fc.asyncProperty(trial, async (tried) => {
        const result = await runTrial(world, admin, tried);
        commands += result.commands;
        refused += result.refused;
        expect(result.divergence).toBeNull();
      }),
      { seed: seed + index, numRuns: Math.ceil(COMMANDS / LANES / 40), endOnFailure: true },
    );
  await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
  const runs = await admin<{ runId: string }[]>`select run_id as "runId" from runs`;
  for (const { runId } of runs) await traceTypes(world, runId);
  figure(
    "the model",
    `${commands} random commands on ${runs.length} runs, ${refused} refused and kept, 0 divergences, every chain verified (seed ${seed})`,
  );
  expect(commands).toBeGreaterThanOrEqual(COMMANDS);
});

const MUTANTS: readonly Mutant[] = [
  "ignores deadlines",
  "ignores leases",
  "accepts any attempt",
  "allows what was denied",
  "forgets the end",
];

test.each(MUTANTS)("a store that %s is caught by the model", { timeout: 120_000 }, async (mutant) => {
  const trials = fc.sample(trial, { numRuns: 60, seed: 7 });
  for (const tried of trials) {
    const { divergence } = await runTrial(world, admin, tried, mutant);
    if (divergence) return;
  }
  throw new Error(`${mutant}: nobody noticed in ${trials.length} trials`);
});
