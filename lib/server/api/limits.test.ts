import { describe, expect, test } from "vitest";
import type { Change } from "@/db/client";
import { paramsOf } from "./params";
import { problemOf } from "./problem";
import { RefusalRate } from "./refusal-rate";
import { WaiterCount } from "./waiter-count";
import { nextChange } from "./wake";

describe("the rate of refusals", () => {
  test("slows one principal down on one object after sixty in a minute, until the oldest is a minute old", () => {
    let now = 1_000_000;
    const rate = new RefusalRate(() => now);
    for (let index = 0; index < 60; index += 1) {
      rate.count("p", "run");
      now += 100;
    }
    expect(rate.waitSeconds("p", "run")).toBe(0);
    rate.count("p", "run");
    expect(rate.waitSeconds("p", "run")).toBe(54);
    expect([rate.waitSeconds("p", "other"), rate.waitSeconds("q", "run")]).toEqual([0, 0]);
    now += 54_000;
    expect(rate.waitSeconds("p", "run")).toBe(0);
  });

  test("remembers a bounded number of pairs, the freshest", () => {
    const rate = new RefusalRate(() => 0);
    for (let index = 0; index < 61; index += 1) rate.count("old", "run");
    for (let index = 0; index < 10_000; index += 1) rate.count(`p${index}`, "run");
    expect(rate.waitSeconds("old", "run")).toBe(0);
  });
});

describe("what is held open", () => {
  test("is at most twenty a principal; a place is given back once, however often it is over", () => {
    const waiters = new WaiterCount();
    const releases = Array.from({ length: 20 }, () => waiters.take("p"));
    expect(waiters.take("p")).toBeNull();
    expect(waiters.take("q")).not.toBeNull();
    releases[0]?.();
    releases[0]?.();
    expect(waiters.take("p")).not.toBeNull();
    expect(waiters.take("p")).toBeNull();
  });
});

describe("a wake", () => {
  function fixture() {
    const subscribers = new Set<(change: Change | null) => void>();
    const changes = {
      subscribe: (subscriber: (change: Change | null) => void) => {
        subscribers.add(subscriber);
        return () => subscribers.delete(subscriber);
      },
    };
    const gone = new AbortController();
    const wakes = nextChange(changes, "w", "r", gone.signal);
    return {
      subscribers,
      gone,
      wakes,
      tell: (change: Change | null) => subscribers.forEach((subscriber) => void subscriber(change)),
    };
  }

  async function isWoken(wait: Promise<void>): Promise<boolean> {
    return Promise.race([wait.then(() => true), new Promise<false>((resolve) => setTimeout(() => resolve(false), 50))]);
  }

  test("comes by a change of the run, by a lost notification, or by the caller's leaving", async () => {
    const { wakes, tell, gone } = fixture();
    for (const act of [() => tell({ workspace: "w", runs: ["r"] }), () => tell(null), () => gone.abort()]) {
      const wait = wakes.wait(60_000);
      act();
      expect(await isWoken(wait)).toBe(true);
    }
  });

  test("does not come by another run or workspace", async () => {
    const { wakes, tell } = fixture();
    const wait = wakes.wait(200);
    tell({ workspace: "w", runs: ["other"] });
    tell({ workspace: "other", runs: ["r"] });
    expect(await isWoken(wait)).toBe(false);
    await wait;
  });

  test("is kept for who was not waiting yet, and comes anyway when the time is over", async () => {
    const { wakes, tell } = fixture();
    tell({ workspace: "w", runs: ["r"] });
    expect(await isWoken(wakes.wait(60_000))).toBe(true);
    expect(await isWoken(wakes.wait(5))).toBe(true);
  });

  test("leaves nothing behind when it is stopped", async () => {
    const { wakes, subscribers } = fixture();
    const wait = wakes.wait(60_000);
    wakes.stop();
    expect(await isWoken(wait)).toBe(true);
    expect(subscribers.size).toBe(0);
  });
});

describe("a path's parameters", () => {
  test("are decoded once", () => {
    expect(paramsOf("/a/{x}/b", "/a/p%2Fq%2525/b")).toEqual({ x: "p/q%25" });
  });

  test.each(["/a//b", "/a/x", "/a/x/b/c", "/a/%/b", "/a/%ff/b", "/a/%00/b", "/c/x/b"])("are none in %s", (path) => {
    expect(paramsOf("/a/{x}/b", path)).toBeNull();
  });
});

describe("Retry-After", () => {
  const now = Date.parse("2026-01-02T03:04:05Z");

  test("says until when, in whole seconds, at least one", () => {
    const secondsFor = (until: string) =>
      problemOf({ code: "in_progress", facts: { lease_until: until } }, now).headers.get("retry-after");
    expect(secondsFor("2026-01-02T03:04:35.500000Z")).toBe("31");
    expect(secondsFor("2026-01-02T03:04:00.000000Z")).toBe("1");
    expect(problemOf({ code: "busy" }).headers.get("retry-after")).toBe("1");
    expect(problemOf({ code: "slow_down", facts: { retry_after_s: 7 } }).headers.get("retry-after")).toBe("7");
  });

  test("is not said where time cures nothing", () => {
    expect(problemOf({ code: "run_ended", facts: { lease_until: "x" } }).headers.get("retry-after")).toBeNull();
  });

  test("and no fact can pass itself off as one of the problem's own members", async () => {
    const sent = problemOf({ code: "busy", facts: { code: "fine", status: 200 } });
    expect(await sent.json()).toMatchObject({ code: "busy", status: 503 });
  });
});
