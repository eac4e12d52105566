"use client";

import { CircleSlash, Download, Gavel, Mailbox, MailOpen, Replace } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { useActions } from "@/components/console/actions";
import { OperatorDialog } from "@/components/console/operator-dialog";
import { Button, buttonClass } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { TextArea } from "@/components/ui/input";
import type { RunPage } from "@/lib/protocol/console-run-view";
import type { RunVerdict } from "@/lib/protocol/verdict-words";

type Open = "settle" | "replace" | "cancel" | null;

/** The safe steps that an approver has no button for. */
const BY_OPERATORS: readonly string[] = ["settle", "replace", "cancel_run", "see_mailbox"];

interface RunActionsProps {
  readonly page: RunPage;
  readonly verdict: RunVerdict;
}

/** The one safe step is the primary button; what else an operator may do stands beside it. */
export function RunActions({ page, verdict }: RunActionsProps) {
  const [open, setOpen] = useState<Open>(null);
  const unsettled = page.facts.live_calls.find(
    (call) => call.status === "indeterminate" || (call.status === "approved" && call.unreported),
  );
  const replaceable = ticketToReplace(page);
  const { operate, bundle } = page.may;
  const look = (kind: string) => (verdict.action?.kind === kind ? "primary" : "plain");
  return (
    <div className="mt-4 flex flex-wrap gap-2">
      {verdict.action?.kind === "open_ticket" && (
        <Link className={buttonClass("primary")} href={`/tickets/${verdict.action.ticket_id}`}>
          <MailOpen className="icon icon-sm" aria-hidden="true" />
          Open the ticket
        </Link>
      )}
      {operate && verdict.action?.kind === "see_mailbox" && (
        <Link className={buttonClass("primary")} href={`/mailbox?mailbox=${encodeURIComponent(page.thread_id)}`}>
          <Mailbox className="icon icon-sm" aria-hidden="true" />
          See its mailbox
        </Link>
      )}
      {operate && unsettled && (
        <Button look={look("settle")} onClick={() => setOpen("settle")}>
          <Gavel className="icon icon-sm" aria-hidden="true" />
          Settle
        </Button>
      )}
      {operate && replaceable !== null && (
        <Button look={look("replace")} onClick={() => setOpen("replace")}>
          <Replace className="icon icon-sm" aria-hidden="true" />
          Replace ticket
        </Button>
      )}
      {operate && page.facts.state !== "ended" && (
        <Button onClick={() => setOpen("cancel")}>
          <CircleSlash className="icon icon-sm" aria-hidden="true" />
          Cancel run
        </Button>
      )}
      {!operate && verdict.action !== null && BY_OPERATORS.includes(verdict.action.kind) && (
        <p className="self-center text-muted-foreground">An operator or an owner does this.</p>
      )}
      {bundle && (
        <a className={buttonClass("quiet")} href={`/console/runs/${encodeURIComponent(page.run_id)}/bundle`} download>
          <Download className="icon icon-sm" aria-hidden="true" />
          Download bundle
        </a>
      )}
      {operate && (
        <RunDialogs
          page={page}
          open={open}
          onClose={() => setOpen(null)}
          settleRef={unsettled?.call_ref ?? null}
          replaceId={replaceable}
        />
      )}
    </div>
  );
}

/** An open ticket, or the one whose allow nobody began: both may be asked again. */
function ticketToReplace(page: RunPage): string | null {
  const open = page.facts.open_tickets.find((ticket) => ticket.expired_ms !== null) ?? page.facts.open_tickets[0];
  if (open) return open.ticket_id;
  return page.facts.live_calls.find((call) => call.status === "approved" && !call.unreported)?.ticket_id ?? null;
}

interface RunDialogsProps {
  readonly page: RunPage;
  readonly open: Open;
  readonly onClose: () => void;
  readonly settleRef: string | null;
  readonly replaceId: string | null;
}

function RunDialogs({ page, open, onClose, settleRef, replaceId }: RunDialogsProps) {
  const { cancelRun, replaceTicket, settleCall } = useActions();
  const [happened, setHappened] = useState<boolean | null>(null);
  const [output, setOutput] = useState("");
  const touched = [["run", page.run_id] as const];
  return (
    <>
      <OperatorDialog
        open={open === "cancel"}
        onClose={onClose}
        title="Cancel run"
        says="Ends the whole run: its open tickets and calls that were never begun are cancelled. A call that executes now is left as it is, and its report is kept."
        touched={touched}
        act={(reason) => cancelRun({ run_id: page.run_id, reason })}
      />
      {replaceId !== null && (
        <OperatorDialog
          open={open === "replace"}
          onClose={onClose}
          title="Replace ticket"
          says="Asks again under a new id, with a deadline as long as the old one’s. An allow that nobody began is voided; the call stays as it is."
          touched={touched}
          act={(reason) => replaceTicket({ ticket_id: replaceId, reason, deadline_in_ms: null })}
        />
      )}
      {settleRef !== null && (
        <OperatorDialog
          open={open === "settle"}
          onClose={onClose}
          title="Settle"
          says="Say what became of the effect, with your evidence. It is never run again; a report that comes later and says otherwise is kept beside it."
          reasonLabel="Evidence"
          touched={touched}
          ready={happened !== null}
          act={(evidence) =>
            settleCall({
              run_id: page.run_id,
              call_ref: settleRef,
              verdict: happened ? "happened" : "did_not_happen",
              evidence,
              output: happened && output.trim() !== "" ? output.trim() : null,
            })
          }
        >
          <SettleFields happened={happened} onHappened={setHappened} output={output} onOutput={setOutput} />
        </OperatorDialog>
      )}
    </>
  );
}

interface SettleFieldsProps {
  readonly happened: boolean | null;
  readonly onHappened: (happened: boolean) => void;
  readonly output: string;
  readonly onOutput: (output: string) => void;
}

/** Neither is chosen beforehand. */
function SettleFields({ happened, onHappened, output, onOutput }: SettleFieldsProps) {
  return (
    <>
      <fieldset className="grid gap-1.5">
        <legend className="mb-1 font-medium">What became of it</legend>
        <label className="flex items-center gap-2">
          <input type="radio" name="happened" checked={happened === true} onChange={() => onHappened(true)} />
          It happened
        </label>
        <label className="flex items-center gap-2">
          <input type="radio" name="happened" checked={happened === false} onChange={() => onHappened(false)} />
          It did not happen
        </label>
      </fieldset>
      {happened === true && (
        <Field label="Result" hint="JSON, what the model is given; optional">
          {(id) => (
            <TextArea id={id} className="mono" value={output} onChange={(event) => onOutput(event.target.value)} />
          )}
        </Field>
      )}
    </>
  );
}
