"use client";

import { type ClipboardEvent, Fragment, type ReactNode } from "react";
import { markHidden, readMarked, type Segment } from "@/lib/protocol/hidden-characters";
import type { JsonRow, Piece } from "@/lib/protocol/json-lines";

/** A character that would not be seen, as a token in stored order; its name stands in the title. */
export function Token({ label, name }: { readonly label: string; readonly name: string }) {
  return (
    <span className="token" title={name}>
      {label}
    </span>
  );
}

/** Offsets into the drawn text, that differ from another value. */
export type Marks = readonly { readonly from: number; readonly to: number }[];

/** Text that is not ours, tokens and all. Always text, never markup. */
export function Segments({ segments }: { readonly segments: readonly Segment[] }) {
  return segments.map((segment, index) =>
    segment.kind === "token" ? (
      <Token key={`${index}:${segment.label}`} label={segment.label} name={segment.name} />
    ) : (
      <Fragment key={`${index}:text`}>{segment.source}</Fragment>
    ),
  );
}

/** One line, or a few, of someone else's words. */
export function Quoted({ text, lines = "marked" }: { readonly text: string; readonly lines?: "shown" | "marked" }) {
  return (
    <bdi dir="ltr" onCopy={copyOriginal}>
      <Segments segments={markHidden(text, { lines })} />
    </bdi>
  );
}

/** What is copied is what was stored: tokens give back the characters that they stand for. */
export function copyOriginal(event: ClipboardEvent): void {
  const selected = window.getSelection()?.toString();
  if (selected === undefined || !selected.includes("⟨")) return;
  event.preventDefault();
  event.clipboardData.setData("text/plain", readMarked(selected));
}

const PIECE_CLASS: Readonly<Record<Piece["kind"], string | undefined>> = {
  key: "name",
  number: "number",
  word: "constant",
  string: undefined,
  mark: undefined,
};

/** The ink of one drawn value, with what differs from another value marked. */
export function Pieces({ pieces, marks }: { readonly pieces: readonly Piece[]; readonly marks?: Marks }) {
  let offset = 0;
  return pieces.map((piece, index) => {
    const start = offset;
    offset += piece.drawn.length;
    const ink = inkOf(piece, start, marks ?? []);
    const className = PIECE_CLASS[piece.kind];
    return className === undefined ? (
      <Fragment key={`${index}:${piece.kind}`}>{ink}</Fragment>
    ) : (
      <span key={`${index}:${piece.kind}`} className={className}>
        {ink}
      </span>
    );
  });
}

function inkOf(piece: Piece, at: number, marks: Marks): ReactNode {
  return "segments" in piece ? (
    <DrawnSegments segments={piece.segments} at={at} marks={marks} />
  ) : (
    marked(piece.drawn, at, marks)
  );
}

type DrawnSegment = Extract<Piece, { segments: unknown }>["segments"][number];

function DrawnSegments({
  segments,
  at,
  marks,
}: {
  readonly segments: readonly DrawnSegment[];
  readonly at: number;
  readonly marks: Marks;
}) {
  let offset = at;
  return segments.map((segment, index) => {
    const start = offset;
    offset += segment.drawn.length;
    return segment.kind === "token" ? (
      <Token key={`${index}:${segment.label}`} label={segment.drawn} name={segment.name} />
    ) : (
      <Fragment key={`${index}:text`}>{marked(segment.drawn, start, marks)}</Fragment>
    );
  });
}

function marked(text: string, at: number, marks: Marks): ReactNode {
  const parts: ReactNode[] = [];
  let done = 0;
  for (const { from, to } of marks) {
    const start = Math.max(0, from - at);
    const end = Math.min(text.length, to - at);
    if (end <= start) continue;
    parts.push(text.slice(done, start));
    parts.push(
      <span key={`${start}-${end}`} className="changed">
        {text.slice(start, end)}
      </span>,
    );
    done = end;
  }
  return parts.length === 0 ? text : [...parts, text.slice(done)];
}

/** A JSON value whole, one drawn row a line, indented; reads back to the canonical text. */
export function JsonText({ rows }: { readonly rows: readonly JsonRow[] }) {
  return (
    <div className="json" onCopy={copyOriginal}>
      {rows.map((row, index) => (
        <Fragment key={`${index}:${row.path}`}>
          {"  ".repeat(row.depth)}
          <Pieces pieces={row.pieces} />
          {index < rows.length - 1 && "\n"}
        </Fragment>
      ))}
    </div>
  );
}
