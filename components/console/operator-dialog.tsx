"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { type ReactNode, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Field } from "@/components/ui/field";
import { TextArea } from "@/components/ui/input";
import type { OperatorAnswer, ShownRefusal } from "@/lib/protocol/console-view";
import { useAnnounce } from "./live-region";
import { NO_ANSWER, RefusedNotice } from "./refused-notice";

interface OperatorDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** Also the name of the button that does it. */
  readonly title: string;
  readonly says: ReactNode;
  readonly children?: ReactNode;
  readonly reasonLabel?: string;
  /** Whether the dialog's own fields are filled in. */
  readonly ready?: boolean;
  /** Query keys to read again afterwards. */
  readonly touched: readonly (readonly string[])[];
  readonly act: (reason: string) => Promise<OperatorAnswer>;
}

/** An operator's act: what it will do, a reason that is kept with it, and the server's own answer in place. */
export function OperatorDialog({
  open,
  onClose,
  title,
  says,
  children,
  reasonLabel = "Reason",
  ready = true,
  touched,
  act,
}: OperatorDialogProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const { reason, setReason, sending, refused, submit } = useOperatorAct(title, touched, act, onClose);
  return (
    <Dialog open={open} onOpenChange={(next) => !next && onClose()} title={title} initialFocus={field}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) submit();
        }}
      >
        <div className="dialog-body">
          <p className="text-muted-foreground">{says}</p>
          {children}
          <Field label={reasonLabel}>
            {(id) => (
              <TextArea
                id={id}
                ref={field}
                required
                maxLength={4_000}
                value={reason}
                onChange={(event) => setReason(event.target.value)}
              />
            )}
          </Field>
          {refused && <RefusedNotice refused={refused} />}
        </div>
        <div className="dialog-foot">
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look="primary" aria-disabled={sending || !ready || reason.trim() === "" || undefined}>
            {title}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function useOperatorAct(
  title: string,
  touched: OperatorDialogProps["touched"],
  act: OperatorDialogProps["act"],
  onClose: () => void,
) {
  const [reason, setReason] = useState("");
  const [sending, setSending] = useState(false);
  const [refused, setRefused] = useState<ShownRefusal | null>(null);
  const queries = useQueryClient();
  const router = useRouter();
  const announce = useAnnounce();

  const settle = (answer: OperatorAnswer) => {
    if (!answer.ok) {
      setRefused(answer.refusal);
      return;
    }
    announce(`${title}: done.`);
    setReason("");
    onClose();
    if (answer.successor_ticket_id !== null) router.push(`/tickets/${answer.successor_ticket_id}`);
  };
  const send = async () => {
    setSending(true);
    setRefused(null);
    try {
      settle(await act(reason.trim()));
    } catch {
      setRefused(NO_ANSWER);
    } finally {
      setSending(false);
      for (const queryKey of touched) void queries.invalidateQueries({ queryKey: [...queryKey] });
    }
  };
  const submit = () => {
    if (!sending && reason.trim() !== "") void send();
  };
  return { reason, setReason, sending, refused, submit };
}
