"use client";

import { useQueryClient } from "@tanstack/react-query";
import { Archive } from "lucide-react";
import { useState } from "react";
import { useReader } from "@/components/shell/reader";
import { Button } from "@/components/ui/button";
import { useActions } from "./actions";
import { useAnnounce } from "./live-region";

/** Ends and archives the demo's runs, for those who may cancel a run. Nothing is shown where no row is the demo's. */
export function RemoveDemo({ rows }: { readonly rows: readonly { readonly is_demo: boolean }[] }) {
  const { role } = useReader();
  const { removeDemo } = useActions();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const [state, setState] = useState<"idle" | "sending" | "failed">("idle");
  if (role === "approver" || !rows.some((row) => row.is_demo)) return null;
  const press = async () => {
    if (state === "sending") return;
    setState("sending");
    try {
      const answer = await removeDemo(null);
      if (answer.ok) announce(`The demo is gone: ${answer.archived} runs ended and archived. Their traces stay.`);
      setState(answer.ok ? "idle" : "failed");
    } catch {
      setState("failed");
    }
    // Whatever the answer was, the list is read again: it alone says what is there.
    await queries.invalidateQueries();
  };
  return (
    <Button look="quiet" className="ml-auto" onClick={() => void press()} disabled={state === "sending"}>
      <Archive className="icon icon-sm" aria-hidden="true" />
      {state === "failed" ? "Remove demo: try again" : "Remove demo"}
    </Button>
  );
}
