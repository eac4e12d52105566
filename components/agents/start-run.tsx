"use client";

import { CirclePlay, Users } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { useActions } from "@/components/console/actions";
import { RefusedNotice } from "@/components/console/refused-notice";
import { TONE_CLASS } from "@/components/console/status";
import { useAct } from "@/components/console/use-act";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Select, TextArea } from "@/components/ui/input";
import type { AgentRow } from "@/lib/protocol/console-thread-view";
import { drawnAsText } from "@/lib/protocol/hidden-characters";

/** Start one of the reader's agents, and go to what it says. */
export function StartRun({
  agents,
  othersMayDecide,
}: {
  readonly agents: readonly AgentRow[];
  readonly othersMayDecide: number;
}) {
  const { startRun } = useActions();
  const { sending, refused, send } = useAct();
  const router = useRouter();
  const [chosen, setChosen] = useState<string | null>(null);
  const [message, setMessage] = useState("");
  const agent = chosen ?? agents[0]?.name ?? "";
  const said = message.trim();
  const submit = () => {
    if (said === "" || agent === "") return;
    void send(
      (run_id) => startRun({ run_id, agent, message: said }),
      ({ thread_id }) => router.push(`/threads/${encodeURIComponent(thread_id)}`),
    );
  };
  return (
    <form
      className="grid max-w-[884px] gap-3 px-[var(--gutter)] py-5"
      aria-label="Start a run"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2 className="font-semibold">Start a run</h2>
      <WhoDecides others={othersMayDecide} />
      <Field label="Agent">
        {(id) => (
          <Select id={id} value={agent} onChange={(event) => setChosen(event.target.value)}>
            {agents.map(({ name }) => (
              <option key={name} value={name}>
                {drawnAsText(name)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Message" hint="the first of its thread">
        {(id) => (
          <TextArea
            id={id}
            required
            maxLength={10_000}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
          />
        )}
      </Field>
      {refused && <RefusedNotice refused={refused} />}
      <div>
        <Button type="submit" look="primary" aria-disabled={sending || said === "" || undefined}>
          <CirclePlay className="icon icon-sm" aria-hidden="true" />
          Start
        </Button>
      </div>
    </form>
  );
}

/** Told before the start, because a lone owner would otherwise wait for nobody. */
export function WhoDecides({ others }: { readonly others: number }) {
  if (others > 0) {
    return (
      <p className="text-muted-foreground">
        Whoever starts a run cannot allow what it asks for: another approver or owner decides. Here{" "}
        {others === 1 ? "one other person may" : `${others} other people may`}.
      </p>
    );
  }
  return (
    <div className={`notice ${TONE_CLASS.wait}`} role="note">
      <Users className="icon" aria-hidden="true" />
      <div>
        <p className="font-medium">Nobody may allow what a run of yours asks for.</p>
        <p className="text-muted-foreground">
          Whoever starts a run cannot allow its acts, and there is no other approver or owner yet: it would wait for
          nobody. Add one with <code>npm run -s holdpoint -- people add EMAIL --role approver</code>.
        </p>
      </div>
    </div>
  );
}
