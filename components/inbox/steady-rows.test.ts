import { expect, test } from "vitest";
import type { InboxRow } from "@/lib/protocol/console-inbox-view";
import { extendLayout, steadyRows } from "./steady-rows";

function row(id: string, deadline: number | null): InboxRow {
  return {
    ticket_id: id,
    kind: "permission",
    action: "send_money",
    effect: { lead: "", keep: "" },
    why_it_asks: "",
    agent: "a",
    run_id: "r",
    risk: "low",
    deadline_ms: deadline,
    expired_ms: null,
    asked_ms: 0,
    flag: null,
    is_demo: false,
    may_decide: true,
  };
}

test("a new row waits above and moves nothing", () => {
  const steady = steadyRows([row("a", 1), row("b", 2)], [row("new", 0), row("a", 1), row("b", 2)], false);
  expect(steady.rows.map((it) => it.row.ticket_id)).toEqual(["a", "b"]);
  expect(steady.fresh).toBe(1);
});

test("a row that was decided stays in its place, marked", () => {
  const steady = steadyRows([row("a", 1), row("b", 2)], [row("b", 2)], false);
  expect(steady.rows.map((it) => [it.row.ticket_id, it.gone])).toEqual([
    ["a", true],
    ["b", false],
  ]);
});

test("a row that a new one pushed to the next page is not taken for decided", () => {
  const steady = steadyRows([row("a", 1), row("b", 2)], [row("new", 0), row("a", 1)], true);
  expect(steady.rows.map((it) => it.gone)).toEqual([false, false]);
});

test("a row follows its committed facts in place", () => {
  const steady = steadyRows([row("a", 1)], [row("a", 9)], false);
  expect(steady.rows[0]?.row.deadline_ms).toBe(9);
});

test("a further page is laid out below", () => {
  expect(extendLayout([row("a", 1)], [row("a", 1), row("b", 2)]).map((it) => it.ticket_id)).toEqual(["a", "b"]);
});
