"use client";

import { useQuery } from "@tanstack/react-query";
import { CopyButton } from "@/components/console/copy-button";
import { useLive } from "@/components/console/live";
import { Quoted } from "@/components/console/pieces";
import { readConsole } from "@/components/console/read";
import { StaleNotice } from "@/components/console/stale-notice";
import { NoSuch, Unread } from "@/components/console/states";
import { Moment } from "@/components/console/time";
import { MessageFrame, MessageList } from "@/components/runs/thread";
import { Crumb, TopBar } from "@/components/shell/top-bar";
import type { ThreadPage } from "@/lib/protocol/console-thread-view";
import { drawnAsText } from "@/lib/protocol/hidden-characters";
import { MessageForm } from "./message-form";
import { PendingItems, ThreadRuns } from "./thread-runs";

export function ThreadScreen({ threadId }: { readonly threadId: string }) {
  const query = useQuery({
    queryKey: ["thread", threadId],
    queryFn: ({ signal }) => readConsole<ThreadPage>(`/console/threads/${encodeURIComponent(threadId)}`, signal),
  });
  const page = query.data;
  return (
    <>
      <TopBar>
        <Crumb to="Runs" />
        <h1 title={drawnAsText(threadId)}>
          Thread{" "}
          <span className="mono">
            <Quoted text={threadId} />
          </span>
        </h1>
        <CopyButton text={threadId} label="Copy thread id" />
      </TopBar>
      <StaleNotice what="thread" query={query} />
      {page ? (
        <ThreadBody page={page} />
      ) : (
        <Unread
          what="thread"
          unknown="This says nothing about what was said."
          query={query}
          dense
          missing={<NoSuch what="thread" list="runs" />}
        />
      )}
    </>
  );
}

function ThreadBody({ page }: { readonly page: ThreadPage }) {
  return (
    <>
      <PendingItems runs={page.runs} />
      <ThreadRuns runs={page.runs} />
      <Messages page={page} />
      <LiveWords live={page.live} />
      <MessageForm talk={page.talk} waits={page.runs.some((run) => run.open_tickets.length > 0)} />
    </>
  );
}

function Messages({ page: { messages, messages_in_all } }: { readonly page: ThreadPage }) {
  return (
    <section aria-labelledby="messages">
      <h2 className="small-head px-[var(--gutter)] pt-4 pb-2" id="messages">
        Messages{" "}
        <span className="font-normal text-subtle-foreground">
          {messages.length < messages_in_all
            ? `the newest ${messages.length} of ${messages_in_all.toLocaleString("en-US")}`
            : messages_in_all}
        </span>
      </h2>
      {messages.length === 0 ? (
        <p className="px-[var(--gutter)] pb-4 text-muted-foreground">Nothing was said on this thread.</p>
      ) : (
        <MessageList messages={messages} />
      )}
    </section>
  );
}

/** For the eye alone: it never looks like a message, and while the page is not live it is not shown at all. */
function LiveWords({ live }: { readonly live: ThreadPage["live"] }) {
  const stream = useLive();
  if (live.length === 0 || stream.kind === "lost") return null;
  return (
    <section className="grid gap-3 px-[var(--gutter)] pb-4" aria-label="Live words">
      {live.map(({ run_id, text, at_ms }) => (
        <div key={run_id} className="grid max-w-[884px] gap-1">
          <p className="small-head">
            <span className="flag flag-outline tone-wait">Not committed yet</span>
            <span className="font-normal text-subtle-foreground">
              The model is answering, as of <Moment atMs={at_ms} />
            </span>
          </p>
          <MessageFrame text={text} />
        </div>
      ))}
    </section>
  );
}
