"use client";

import { useMemo } from "react";
import { Quoted } from "@/components/console/pieces";
import { canonicalJson, isObject, type JsonValue, readJson } from "@/lib/protocol/canonical-json";
import type { TicketPage } from "@/lib/protocol/console-view";
import { escapeUnseen } from "@/lib/protocol/hidden-characters";
import { pathTo } from "@/lib/protocol/json-path";
import { AnswerFields } from "./answer-fields";
import type { Question } from "./question-section";
import { actOf } from "./ticket-title";

/** What goes with an Allow: the tool's result, or the arguments that it runs with; null where Allow goes alone. */
export type PayloadKind = "result" | "arguments" | null;

export function payloadKind(page: TicketPage): PayloadKind {
  switch (page.call?.resume_mode) {
    case "use_decision_as_tool_result":
      return "result";
    case "pass_decision_to_tool":
      return "arguments";
    default:
      return null;
  }
}

/** The proposed arguments, one a line, for whoever may change them. */
export function argumentsToEdit(page: TicketPage): string {
  const { args } = actOf(page);
  if (!isObject(args)) return escapeUnseen(canonicalJson(args));
  const lines = Object.keys(args).map((name) => `  ${canonicalJson(name)}: ${canonicalJson(args[name] ?? null)}`);
  return lines.length === 0 ? "{}" : `{\n${lines.map(escapeUnseen).join(",\n")}\n}`;
}

interface PayloadSectionProps {
  readonly kind: Exclude<PayloadKind, null>;
  readonly page: TicketPage;
  readonly payload: Question;
}

export function PayloadSection({ kind, page, payload }: PayloadSectionProps) {
  const changed = useMemo(
    () => (kind === "arguments" ? changedPaths(actOf(page).args, payload.text) : []),
    [kind, page, payload.text],
  );
  return (
    <section className="section mt-[22px]" aria-labelledby="payload">
      <div className="section-head">
        <h2 id="payload">{kind === "result" ? "Your result" : "Your arguments"}</h2>
      </div>
      <p className="mb-2 text-muted-foreground">
        {kind === "result"
          ? "With Allow the tool does not run: the agent gets what you write here as its result."
          : "Allow runs the tool with these arguments. Changed ones make another act, with a hash of its own."}
      </p>
      <form onSubmit={(event) => event.preventDefault()}>
        <AnswerFields
          form={payload.form}
          draft={payload.draft}
          faults={payload.faults}
          onChange={payload.change}
          single={kind === "result" ? "Result" : "Arguments"}
        />
      </form>
      {changed.length > 0 && (
        <p className="mt-2" role="status">
          <span className="text-muted-foreground">Changed:</span>{" "}
          {changed.map((path, index) => (
            <span key={path} className="mono">
              {index > 0 && ", "}
              <Quoted text={path} />
            </span>
          ))}
        </p>
      )}
    </section>
  );
}

function changedPaths(before: JsonValue, after: string | null): readonly string[] {
  const read = after === null ? null : readJson(after);
  if (read === null || !read.ok) return [];
  const now = read.value;
  if (!isObject(before) || !isObject(now)) return canonicalJson(before) === canonicalJson(now) ? [] : ["args"];
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  const same = (name: string) =>
    Object.hasOwn(before, name) === Object.hasOwn(now, name) &&
    canonicalJson(before[name] ?? null) === canonicalJson(now[name] ?? null);
  return names.filter((name) => !same(name)).map((name) => pathTo("args", name));
}
