"use client";

import { CircleSlash, Replace } from "lucide-react";
import { useState } from "react";
import { useActions } from "@/components/console/actions";
import { OperatorDialog } from "@/components/console/operator-dialog";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Select } from "@/components/ui/input";
import type { TicketPage } from "@/lib/protocol/console-view";

type Open = "replace" | "cancel_call" | "cancel_run" | null;

/** What operators may do about a ticket. None of it is a decision: nothing here lets a call run. */
export function OperatorButtons({ page }: { readonly page: TicketPage }) {
  const [open, setOpen] = useState<Open>(null);
  const held = page.expired_ms !== null;
  const approved = page.status !== "open";
  // Beside a decision they are small; where nothing can be decided they are what the bar offers.
  const size = page.may.decide ? "control" : "decide";
  return (
    <>
      {!approved && page.call !== null && (
        <Button size={size} onClick={() => setOpen("cancel_call")}>
          <CircleSlash className="icon" aria-hidden="true" />
          Cancel call
        </Button>
      )}
      {held && (
        <Button size={size} onClick={() => setOpen("cancel_run")}>
          <CircleSlash className="icon" aria-hidden="true" />
          Cancel run
        </Button>
      )}
      {page.call !== null && (
        <Button size={size} onClick={() => setOpen("replace")}>
          <Replace className="icon" aria-hidden="true" />
          Replace ticket
        </Button>
      )}
      <OperatorDialogs page={page} open={open} onClose={() => setOpen(null)} />
    </>
  );
}

const DEADLINES = [
  { value: "", label: "As long as the old one’s" },
  { value: "900000", label: "15 minutes" },
  { value: "3600000", label: "1 hour" },
  { value: "28800000", label: "8 hours" },
  { value: "86400000", label: "1 day" },
] as const;

const CANCEL_CALL =
  "Closes this ticket and its call. The model is told “cancelled”; its run goes on. Deny is another thing: it gives the model a blocked result.";

function OperatorDialogs({
  page,
  open,
  onClose,
}: {
  readonly page: TicketPage;
  readonly open: Open;
  readonly onClose: () => void;
}) {
  const { cancelCall, cancelRun, replaceTicket } = useActions();
  const [deadline, setDeadline] = useState("");
  const touched = [
    ["ticket", page.ticket_id],
    ["run", page.run_id],
  ] as const;
  return (
    <>
      <OperatorDialog
        open={open === "replace"}
        onClose={onClose}
        title="Replace ticket"
        says="Asks again under a new id, with a fresh deadline. This ticket is superseded and never decided; the call stays as it is."
        touched={touched}
        act={(reason) =>
          replaceTicket({
            ticket_id: page.ticket_id,
            reason,
            deadline_in_ms: deadline === "" ? null : Number(deadline),
          })
        }
      >
        <Field label="Deadline">
          {(id) => (
            <Select id={id} value={deadline} onChange={(event) => setDeadline(event.target.value)}>
              {DEADLINES.map((choice) => (
                <option key={choice.value} value={choice.value}>
                  {choice.label}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </OperatorDialog>
      <OperatorDialog
        open={open === "cancel_call"}
        onClose={onClose}
        title="Cancel call"
        says={
          page.call?.coupling === "all_or_nothing" && page.call.siblings.length > 0
            ? `${CANCEL_CALL} All or nothing: the others of its batch are cancelled with it.`
            : CANCEL_CALL
        }
        touched={touched}
        act={(reason) => cancelCall({ ticket_id: page.ticket_id, reason })}
      />
      <OperatorDialog
        open={open === "cancel_run"}
        onClose={onClose}
        title="Cancel run"
        says="Ends the whole run: its open tickets and calls that were never begun are cancelled. A call that executes now is left as it is."
        touched={touched}
        act={(reason) => cancelRun({ run_id: page.run_id, reason })}
      />
    </>
  );
}
