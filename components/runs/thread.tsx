"use client";

import { useMemo } from "react";
import { JsonText, Quoted } from "@/components/console/pieces";
import { Moment } from "@/components/console/time";
import { canonicalJson, readJson } from "@/lib/protocol/canonical-json";
import type { SaidCallLine, ThreadMessage } from "@/lib/protocol/console-view";
import { type JsonRow, jsonRows } from "@/lib/protocol/json-lines";

/** The thread's committed messages: other people's words, each in the grey frame. */
export function Thread({ messages }: { readonly messages: readonly ThreadMessage[] }) {
  if (messages.length === 0) return null;
  return (
    <details className="border-b border-border">
      <summary className="flex min-h-9 cursor-pointer items-center gap-2 px-[var(--gutter)]">
        <h2 className="font-semibold">Thread</h2>
        <span className="text-muted-foreground">
          {messages.length} {messages.length === 1 ? "message" : "newest messages"}
        </span>
      </summary>
      <MessageList messages={messages} />
    </details>
  );
}

export function MessageList({ messages }: { readonly messages: readonly ThreadMessage[] }) {
  return (
    <ol className="grid gap-3 px-[var(--gutter)] pt-1 pb-4">
      {messages.map((message) => (
        <li key={message.seq} className="grid max-w-[884px] gap-1">
          <p className="small-head">
            {message.calls === null ? <Quoted text={message.role} /> : callsWord(message.calls)}
            <span className="font-normal text-subtle-foreground">
              <Moment atMs={message.at_ms} />
              {message.calls === null && <FirstPart text={message.text} bytes={message.bytes} />}
            </span>
          </p>
          {message.calls === null ? (
            <MessageFrame text={message.text} />
          ) : (
            message.calls.map((call, place) => (
              // Its place in the turn is what tells one call from another.
              <SaidCall key={`${place}:${call.call_ref}`} call={call} />
            ))
          )}
        </li>
      ))}
    </ol>
  );
}

function callsWord(calls: readonly SaidCallLine[]): string {
  return calls.length === 1 ? "tool call" : `${calls.length} tool calls`;
}

function FirstPart({ text, bytes }: { readonly text: string; readonly bytes: number }) {
  if (bytes <= new TextEncoder().encode(text).length) return null;
  return `, the first part of ${bytes.toLocaleString("en-US")} bytes`;
}

/** A call as the model named it: what was parked and decided of it stands on its ticket. */
function SaidCall({ call }: { readonly call: SaidCallLine }) {
  const rows = useMemo(() => argumentRows(call.arguments), [call.arguments]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <div className="frame max-h-72 overflow-auto px-3 py-2" tabIndex={0}>
      <p className="flex flex-wrap items-baseline gap-x-2">
        <b className="mono font-medium">
          <Quoted text={call.name} />
        </b>
        <span className="text-subtle-foreground">
          {call.call_ref ?? "turned down, so it became no call"}
          <FirstPart text={call.arguments} bytes={call.bytes} />
        </span>
      </p>
      {rows === null ? (
        <p className="quoted-text">
          <Quoted text={call.arguments} lines="shown" />
        </p>
      ) : (
        <JsonText rows={rows} />
      )}
    </div>
  );
}

/** Null where a model wrote arguments that are no JSON, or only their first part is here: then the text itself is shown. */
function argumentRows(text: string): readonly JsonRow[] | null {
  const read = readJson(text);
  return read.ok ? jsonRows(canonicalJson(read.value)) : null;
}

/** Somebody else's words, whole, in the grey frame. */
export function MessageFrame({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <div className="frame max-h-72 overflow-auto px-3 py-2" tabIndex={0}>
      <p className="quoted-text">
        <Quoted text={text} lines="shown" />
      </p>
    </div>
  );
}
