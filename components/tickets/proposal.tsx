"use client";

import { clsx } from "clsx";
import Link from "next/link";
import { Changed, FirstEver, LargestSoFar } from "@/components/console/flag";
import { JsonText, Segments } from "@/components/console/pieces";
import { Moment } from "@/components/console/time";
import type { Comparison } from "@/lib/protocol/console-view";
import type { JsonRow } from "@/lib/protocol/json-lines";
import type { ProposalField } from "@/lib/protocol/proposal-fields";
import { FieldValue, needsBlock, number } from "./field-value";

export interface ProposalProps {
  readonly fields: readonly ProposalField[];
  readonly compared: Comparison | null;
  readonly before: readonly ProposalField[];
  readonly opened: ReadonlySet<string>;
  readonly onOpen: (path: string) => void;
}

const VERDICT_WORDS = { allow: "allowed", deny: "denied", answer: "answered", continue: "continued" } as const;

/** The proposal whole: every field is drawn, none is summarised, and what is unlike last time is marked. */
export function ProposalTable(props: ProposalProps) {
  const { fields, compared } = props;
  const narrow = fields.filter((field) => !needsBlock(field));
  const wide = fields.filter((field) => needsBlock(field));
  return (
    <>
      <table className="proposal">
        <thead>
          <tr>
            <th scope="col" className="col-field">
              Field
            </th>
            <th scope="col">Proposed</th>
            {compared && (
              <>
                <th scope="col" className="col-mark">
                  <span className="sr-only">Difference</span>
                </th>
                <th scope="col" className="col-was">
                  Last {VERDICT_WORDS[compared.verdict]}, <Moment atMs={compared.at_ms} />{" "}
                  <Link className="text-link" href={`/tickets/${compared.ticket_id}`}>
                    that ticket
                  </Link>
                </th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {narrow.map((field) => (
            <FieldRow key={field.path} field={field} {...props} />
          ))}
        </tbody>
      </table>
      {wide.map((field) => (
        <FieldBlock key={field.path} field={field} {...props} />
      ))}
    </>
  );
}

type FieldProps = ProposalProps & { readonly field: ProposalField };

function FieldRow({ field, compared, before, opened, onOpen }: FieldProps) {
  const was = before.find((other) => other.path === field.path) ?? null;
  const same = was?.text === field.text;
  return (
    <tr data-differs={(compared !== null && !same) || undefined} data-field="">
      <th scope="row" data-path="">
        <Segments segments={field.drawnPath} />
      </th>
      <td>
        <FieldValue
          field={field}
          before={same ? null : was}
          open={opened.has(field.path)}
          onOpen={() => onOpen(field.path)}
        />
      </td>
      {compared && (
        <>
          <td className="mark">
            <Difference field={field} compared={compared} same={same} />
          </td>
          <td className="was" data-same={same || undefined} data-none={was === null || undefined}>
            {was === null ? <span className="text-subtle-foreground">–</span> : <PlainValue field={was} />}
          </td>
        </>
      )}
    </tr>
  );
}

function FieldBlock({ field, compared, before, opened, onOpen }: FieldProps) {
  const same = before.find((other) => other.path === field.path)?.text === field.text;
  return (
    <section className="border-t border-border" data-field="">
      <div className="flex flex-wrap items-baseline gap-x-3 px-3 py-1.5">
        <h3 className="mono text-muted-foreground" data-path="">
          <Segments segments={field.drawnPath} />
        </h3>
        <span className="text-meta text-muted-foreground">
          {number(field.bytes)} bytes{field.lines > 1 && `, ${number(field.lines)} lines`}
        </span>
        {compared && <Difference field={field} compared={compared} same={same} />}
      </div>
      <div
        className={clsx(
          "border-t border-border py-2",
          typeof field.value !== "string" && "px-3",
          field.lines === 1 && "px-3",
        )}
      >
        <div className="mono">
          <FieldValue field={field} before={null} open={opened.has(field.path)} onOpen={() => onOpen(field.path)} />
        </div>
      </div>
    </section>
  );
}

function Difference({
  field,
  compared,
  same,
}: {
  readonly field: ProposalField;
  readonly compared: Comparison;
  readonly same: boolean;
}) {
  const novel = compared.novel.find((it) => it.path === field.path);
  if (novel?.kind === "first_ever") return <FirstEver />;
  if (novel?.kind === "largest_so_far") return <LargestSoFar />;
  return same ? null : <Changed />;
}

function PlainValue({ field }: { readonly field: ProposalField }) {
  const text = field.text.length > 240 ? `${field.text.slice(0, 240)}… (${number(field.bytes)} bytes)` : null;
  return <span className="value">{text === null ? <JsonText rows={field.rows} /> : text}</span>;
}

export function ProposalRaw({ rows }: { readonly rows: readonly JsonRow[] }) {
  return (
    <div className="raw-text" data-raw="">
      <JsonText rows={rows} />
    </div>
  );
}
