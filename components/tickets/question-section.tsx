"use client";

import { Quote } from "lucide-react";
import { useMemo, useState } from "react";
import { Quoted } from "@/components/console/pieces";
import { type AnswerDraft, type AnswerForm, answerForm, checkAnswer } from "@/lib/protocol/answer-form";
import { isObject, type JsonValue, readJson } from "@/lib/protocol/canonical-json";
import type { TicketPage } from "@/lib/protocol/console-view";
import { AnswerFields } from "./answer-fields";
import type { VerifiedView } from "./verify-view";

export interface Question {
  readonly form: AnswerForm;
  readonly draft: AnswerDraft;
  readonly change: (name: string, typed: string) => void;
  /** The answer as canonical JSON text, or null while it does not satisfy the question. */
  readonly text: string | null;
  readonly faults: Readonly<Record<string, string>>;
  readonly showFaults: () => void;
}

/**
 * Faults are shown for a field once it was left, or for all once Answer was pressed: nobody is told off while typing.
 * @param start JSON text to change, instead of a form to fill in; null for the form of the ticket's schema
 */
export function useAnswerDraft(page: TicketPage, start: string | null = null): Question {
  const [typed, setTyped] = useState<AnswerDraft>({});
  const draft = useMemo(() => (start === null ? typed : { "": start, ...typed }), [start, typed]);
  const [pressed, setPressed] = useState(false);
  const schema = useMemo(() => parsed(page.schema_text), [page.schema_text]);
  const form = useMemo<AnswerForm>(
    () => (start === null ? answerForm(schema, parsed(page.options_text)) : { kind: "json" }),
    [start, schema, page.options_text],
  );
  const check = checkAnswer(form, draft, schema);
  const faults = check.ok ? {} : check.faults;
  const shown = pressed
    ? faults
    : Object.fromEntries(Object.entries(faults).filter(([name]) => (draft[name] ?? "") !== ""));
  return {
    form,
    draft,
    change: (name, text) => setTyped((now) => ({ ...now, [name]: text })),
    text: check.ok ? check.text : null,
    faults: shown,
    showFaults: () => setPressed(true),
  };
}

function parsed(text: string | null): JsonValue {
  if (text === null) return null;
  const read = readJson(text);
  // An unreadable schema admits nothing, on the server and here.
  return read.ok ? read.value : false;
}

interface QuestionSectionProps {
  readonly page: TicketPage;
  readonly verified: VerifiedView;
  readonly question: Question;
}

export function QuestionSection({ page, verified, question }: QuestionSectionProps) {
  const words = wordsOf(verified);
  return (
    <section className="section mt-4" aria-label={page.kind === "question" ? "Question" : "Pause"}>
      <div className="claim">
        <h2 className="small-head mb-1">
          <Quote className="icon icon-sm" aria-hidden="true" />
          {page.kind === "question" ? "The agent asks" : "Why it was paused"}
        </h2>
        <p className="quoted-text">
          <Quoted text={words} lines="shown" />
        </p>
      </div>
      {page.kind === "question" && page.status === "open" && page.expired_ms === null && page.may.decide && (
        <form className="mt-4" onSubmit={(event) => event.preventDefault()}>
          <AnswerFields
            form={question.form}
            draft={question.draft}
            faults={question.faults}
            onChange={question.change}
          />
        </form>
      )}
    </section>
  );
}

/** The question or the reason, from the view's own proposal. */
function wordsOf(verified: VerifiedView): string {
  const proposal = verified.view?.proposal ?? null;
  const args = proposal !== null && isObject(proposal) ? (proposal.args ?? null) : null;
  if (args === null || !isObject(args)) return "";
  const words = args.question ?? args.reason ?? "";
  return typeof words === "string" ? words : "";
}
