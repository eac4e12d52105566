"use client";

import { Quoted } from "@/components/console/pieces";
import { Moment } from "@/components/console/time";
import type { MessageLine } from "@/lib/protocol/console-view";

/** The thread's committed messages: other people's words, each in the grey frame. */
export function Thread({ messages }: { readonly messages: readonly MessageLine[] }) {
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

export function MessageList({ messages }: { readonly messages: readonly MessageLine[] }) {
  return (
    <ol className="grid gap-3 px-[var(--gutter)] pt-1 pb-4">
      {messages.map((message) => (
        <li key={message.seq} className="grid max-w-[884px] gap-1">
          <p className="small-head">
            <Quoted text={message.role} />
            <span className="font-normal text-subtle-foreground">
              <Moment atMs={message.at_ms} />
              {message.bytes > new TextEncoder().encode(message.text).length &&
                `, the first part of ${message.bytes.toLocaleString("en-US")} bytes`}
            </span>
          </p>
          <MessageFrame text={message.text} />
        </li>
      ))}
    </ol>
  );
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
