"use client";

import { useQueryClient } from "@tanstack/react-query";
import { SendHorizontal } from "lucide-react";
import { useState } from "react";
import { useActions } from "@/components/console/actions";
import { useAnnounce } from "@/components/console/live-region";
import { RefusedNotice } from "@/components/console/refused-notice";
import { useAct } from "@/components/console/use-act";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { TextArea } from "@/components/ui/input";
import type { TalkHindrance, ThreadPage } from "@/lib/protocol/console-thread-view";

const HINDRANCES: Readonly<Record<TalkHindrance, string>> = {
  role: "Operators and owners talk to agents; your role decides.",
  elsewhere: "No agent that runs here is on this thread, so there is nobody here to read a message.",
  ended: "Every run of this thread has ended. A new one is started on the page of the agents.",
  another_principal: "The run on this thread was started by somebody else: only they may talk to it.",
};

/** A message to the run that lives on this thread, or why there is none to send. */
export function MessageForm({ talk, waits }: { readonly talk: ThreadPage["talk"]; readonly waits: boolean }) {
  return (
    <section className="border-t border-border px-[var(--gutter)] py-4" aria-label="Talk to the agent">
      {talk.run_id === null ? (
        <p className="text-muted-foreground">{HINDRANCES[talk.hindrance]}</p>
      ) : (
        <TalkForm runId={talk.run_id} waits={waits} />
      )}
    </section>
  );
}

function TalkForm({ runId, waits }: { readonly runId: string; readonly waits: boolean }) {
  const { talk } = useActions();
  const { sending, refused, send } = useAct();
  const [text, setText] = useState("");
  const queries = useQueryClient();
  const announce = useAnnounce();
  const said = text.trim();
  const submit = async () => {
    if (said === "") return;
    await send(
      (message_id) => talk({ run_id: runId, message_id, text: said }),
      () => {
        setText("");
        announce("Message sent.");
      },
    );
    void queries.invalidateQueries({ queryKey: ["thread"] });
  };
  return (
    <form
      className="grid max-w-[884px] gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field label="Message" {...(waits ? { hint: "the run waits; it reads this once it is answered" } : {})}>
        {(id) => (
          <TextArea
            id={id}
            required
            maxLength={10_000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      {refused && <RefusedNotice refused={refused} />}
      <div>
        <Button type="submit" look="primary" aria-disabled={sending || said === "" || undefined}>
          <SendHorizontal className="icon icon-sm" aria-hidden="true" />
          Send
        </Button>
      </div>
    </form>
  );
}
