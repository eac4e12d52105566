"use client";

import { CircleAlert } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Quoted } from "@/components/console/pieces";
import { TONE_CLASS } from "@/components/console/status";
import { Input, Select, TextArea } from "@/components/ui/input";
import type { AnswerDraft, AnswerField, AnswerForm } from "@/lib/protocol/answer-form";
import { canonicalJson, type JsonValue } from "@/lib/protocol/canonical-json";
import { drawMarked, markHidden } from "@/lib/protocol/hidden-characters";

interface AnswerFieldsProps {
  readonly form: AnswerForm;
  readonly draft: AnswerDraft;
  readonly faults: Readonly<Record<string, string>>;
  readonly onChange: (name: string, typed: string) => void;
  /** What a form without fields is called. */
  readonly single?: string;
}

/** A question's form. Names, choices and descriptions are the agent's words; the frame of each field is ours. */
export function AnswerFields({ form, draft, faults, onChange, single = "Answer" }: AnswerFieldsProps) {
  if (form.kind !== "fields") {
    return (
      <Field name={single} kind={form.kind === "json" ? "JSON" : null} fault={faults[""]}>
        {(ids) => <Single form={form} ids={ids} typed={draft[""] ?? ""} onChange={(typed) => onChange("", typed)} />}
      </Field>
    );
  }
  return (
    <div className="grid gap-3">
      {form.fields.map((field) => (
        <Field
          key={field.name}
          name={field.name}
          kind={kindOf(field)}
          described={field.described}
          fault={faults[field.name]}
        >
          {(ids) => (
            <FieldInput
              field={field}
              ids={ids}
              typed={draft[field.name] ?? ""}
              onChange={(typed) => onChange(field.name, typed)}
            />
          )}
        </Field>
      ))}
      {faults[""] && <Fault id="answer-fault">{faults[""]}</Fault>}
    </div>
  );
}

interface Ids {
  readonly id: string;
  readonly "aria-invalid": true | undefined;
  readonly "aria-describedby": string | undefined;
}

interface FieldProps {
  readonly name: string;
  readonly kind: string | null;
  readonly described?: string | null;
  readonly fault: string | undefined;
  readonly children: (ids: Ids) => ReactNode;
}

function Field({ name, kind, described = null, fault, children }: FieldProps) {
  const id = useId();
  const faultId = `${id}-fault`;
  return (
    <div className="grid gap-1">
      <div>
        <label htmlFor={id} className="font-medium">
          <Quoted text={name} />
        </label>{" "}
        {kind !== null && <span className="text-muted-foreground">{kind}</span>}
      </div>
      {described !== null && (
        <p className="text-muted-foreground">
          <Quoted text={described} />
        </p>
      )}
      {children({
        id,
        "aria-invalid": fault === undefined ? undefined : true,
        "aria-describedby": fault === undefined ? undefined : faultId,
      })}
      {fault !== undefined && <Fault id={faultId}>{fault}</Fault>}
    </div>
  );
}

function Fault({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  return (
    <span id={id} className={`status ${TONE_CLASS.bad} text-bad`}>
      <CircleAlert className="icon icon-sm" aria-hidden="true" />
      {children}
    </span>
  );
}

interface SingleProps {
  readonly form: Exclude<AnswerForm, { kind: "fields" }>;
  readonly ids: Ids;
  readonly typed: string;
  readonly onChange: (typed: string) => void;
}

function Single({ form, ids, typed, onChange }: SingleProps) {
  if (form.kind === "choice")
    return <Choice ids={ids} typed={typed} choices={form.choices} required onChange={onChange} />;
  return (
    <TextArea
      {...ids}
      className={form.kind === "json" ? "mono" : ""}
      value={typed}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

interface FieldInputProps {
  readonly field: AnswerField;
  readonly ids: Ids;
  readonly typed: string;
  readonly onChange: (typed: string) => void;
}

function FieldInput({ field, ids, typed, onChange }: FieldInputProps) {
  switch (field.type) {
    case "choice":
      return <Choice ids={ids} typed={typed} choices={field.choices} required={field.required} onChange={onChange} />;
    case "boolean":
      return <Choice ids={ids} typed={typed} choices={[true, false]} required={field.required} onChange={onChange} />;
    case "json":
      return <TextArea {...ids} className="mono" value={typed} onChange={(event) => onChange(event.target.value)} />;
    default:
      return (
        <Input
          {...ids}
          className="h-8"
          inputMode={field.type === "string" ? "text" : "decimal"}
          value={typed}
          onChange={(event) => onChange(event.target.value)}
        />
      );
  }
}

interface ChoiceProps {
  readonly ids: Ids;
  readonly typed: string;
  readonly choices: readonly JsonValue[];
  readonly required: boolean;
  readonly onChange: (typed: string) => void;
}

/** Nothing is chosen beforehand: a default that nobody looked at is no answer. */
function Choice({ ids, typed, choices, required, onChange }: ChoiceProps) {
  return (
    <Select {...ids} className="h-8" value={typed} onChange={(event) => onChange(event.target.value)}>
      <option value="">{required ? "Choose" : "None"}</option>
      {choices.map((choice) => (
        <option key={canonicalJson(choice)} value={canonicalJson(choice)}>
          {drawMarked(markHidden(typeof choice === "string" ? choice : canonicalJson(choice), { lines: "marked" }))}
        </option>
      ))}
    </Select>
  );
}

function kindOf(field: AnswerField): string {
  const type = field.type === "choice" ? `one of ${field.choices.length}` : field.type === "json" ? "JSON" : field.type;
  const range =
    field.least !== null && field.most !== null
      ? `, ${field.least} to ${field.most}`
      : field.most !== null
        ? `, at most ${field.most}`
        : field.least !== null
          ? `, at least ${field.least}`
          : "";
  return `${type}${range}${field.required ? "" : ", optional"}`;
}
