"use client";

import { UnfoldVertical } from "lucide-react";
import { copyOriginal, JsonText, Pieces } from "@/components/console/pieces";
import { Button } from "@/components/ui/button";
import type { JsonRow, Piece } from "@/lib/protocol/json-lines";
import type { ProposalField } from "@/lib/protocol/proposal-fields";
import { differenceMarks } from "./value-marks";

/** A text of more lines or characters than this is folded: Allow stays off until the rest was opened. */
const FOLD_LINES = 24;
const FOLD_CHARACTERS = 1_600;
const SHOWN_LINES = 6;
const SHOWN_CHARACTERS = 480;

interface FieldValueProps {
  readonly field: ProposalField;
  readonly before: ProposalField | null;
  readonly open: boolean;
  readonly onOpen: () => void;
}

export function isLong(field: ProposalField): boolean {
  return field.text.length > FOLD_CHARACTERS || field.drawnLines > FOLD_LINES;
}

/** Whether a value needs the frame's whole width: several lines, or longer than a cell should be. */
export function needsBlock(field: ProposalField): boolean {
  return isLong(field) || field.lines > 1;
}

/** A field's value whole, or its first part with the exact size of the rest. */
export function FieldValue({ field, before, open, onOpen }: FieldValueProps) {
  if (!isLong(field) || open) return <WholeValue field={field} before={before} />;
  const shown = firstRows(field.rows);
  const shownBytes = new TextEncoder().encode(shown.map(inkOf).join("")).length;
  const rest = Math.max(1, field.bytes - shownBytes);
  return (
    <div data-folded={field.path}>
      <RowsInk rows={shown} lines={field.lines} />
      <div className="fold px-3 pb-1">
        <Button onClick={onOpen} data-fold-button="">
          <UnfoldVertical className="icon icon-sm" aria-hidden="true" />
          Open the other {number(rest)} bytes
        </Button>
        <span>
          {number(field.bytes - rest)} of {number(field.bytes)} bytes shown
        </span>
      </div>
    </div>
  );
}

function WholeValue({ field, before }: { readonly field: ProposalField; readonly before: ProposalField | null }) {
  const [row] = field.rows;
  if (field.rows.length === 1 && row !== undefined && field.lines === 1) {
    const marks = before?.rows.length === 1 && before.rows[0] ? marksOf(row, before.rows[0]) : [];
    return (
      <span className="value" data-value="" onCopy={copyOriginal}>
        <Pieces pieces={row.pieces} marks={marks} />
      </span>
    );
  }
  return <RowsInk rows={field.rows} lines={field.lines} whole />;
}

function marksOf(row: JsonRow, before: JsonRow) {
  return differenceMarks(inkOf(row), inkOf(before), row.pieces[0]?.kind === "number");
}

/** One text over several lines gets line numbers; they are made by the stylesheet, so that they are never read back or copied. */
function RowsInk({
  rows,
  lines,
  whole = false,
}: {
  readonly rows: readonly JsonRow[];
  readonly lines: number;
  readonly whole?: boolean;
}) {
  const [row] = rows;
  const data = whole ? { "data-value": "" } : {};
  if (rows.length === 1 && row !== undefined && lines > 1) {
    return (
      <div className="value-lines" onCopy={copyOriginal} {...data}>
        {splitLines(row.pieces).map(({ pieces, ends }, index) => (
          <div key={`${index}:${pieces.length}`} className="value-line">
            <span className="value">
              <Pieces pieces={pieces} />
              {ends && "\n"}
            </span>
          </div>
        ))}
      </div>
    );
  }
  return (
    <div {...data}>
      <JsonText rows={rows} />
    </div>
  );
}

function inkOf(row: JsonRow): string {
  return row.pieces.map((piece) => piece.drawn).join("");
}

interface InkLine {
  readonly pieces: Piece[];
  /** A line feed stands at its end; after a token for blank lines the line is only broken for the eye. */
  ends: boolean;
}

/** Break a string's ink at its line feeds, and behind blank lines that were made a token; every other piece stands whole. */
function splitLines(pieces: readonly Piece[]): readonly InkLine[] {
  const lines: InkLine[] = [{ pieces: [], ends: false }];
  const put = (piece: Piece) => lines.at(-1)?.pieces.push(piece);
  for (const piece of pieces) {
    if (!("segments" in piece)) {
      put(piece);
      continue;
    }
    for (const segment of piece.segments) {
      const parts = segment.kind === "text" ? segment.drawn.split("\n") : [segment.drawn];
      for (const [index, part] of parts.entries()) {
        const last = lines.at(-1);
        if (index > 0 && last) {
          last.ends = true;
          lines.push({ pieces: [], ends: false });
        }
        put({ kind: piece.kind, drawn: part, segments: [{ ...segment, drawn: part }] });
      }
      if (segment.kind === "token" && segment.source.includes("\n")) lines.push({ pieces: [], ends: false });
    }
  }
  return lines;
}

function firstRows(rows: readonly JsonRow[]): readonly JsonRow[] {
  const [row] = rows;
  if (rows.length > 1) return rows.slice(0, SHOWN_LINES);
  if (row === undefined) return [];
  return [{ ...row, pieces: firstInk(row.pieces) }];
}

/** The first lines of a long text, never more than a few hundred characters. */
function firstInk(pieces: readonly Piece[]): readonly Piece[] {
  const kept: Piece[] = [];
  let left = SHOWN_CHARACTERS;
  let lines = SHOWN_LINES;
  for (const piece of pieces) {
    if (!("segments" in piece)) {
      if (left > 0) kept.push(piece);
      continue;
    }
    for (const segment of piece.segments) {
      if (left <= 0 || lines <= 0) break;
      const drawn =
        segment.kind === "text" ? segment.drawn.split("\n").slice(0, lines).join("\n").slice(0, left) : segment.drawn;
      left -= drawn.length;
      lines -= segment.kind === "text" ? segment.drawn.split("\n").length - 1 : 0;
      kept.push({ kind: piece.kind, drawn, segments: [{ ...segment, drawn }] });
    }
    left = lines <= 0 ? 0 : left;
  }
  return kept;
}

export function number(value: number): string {
  return value.toLocaleString("en-US");
}
