"use client";

import { OctagonX } from "lucide-react";
import type { ShownRefusal } from "@/lib/protocol/console-view";
import { Advice } from "./advice";
import { TONE_CLASS } from "./status";

export const NO_ANSWER: ShownRefusal = {
  code: "no_answer",
  title: "No answer came back",
  advice: "It may or may not have been done. Look at the page, which is read again, before pressing again.",
  facts: {},
};

/** The server's own answer to an act that it did not do, beside the button that asked for it. */
export function RefusedNotice({ refused }: { readonly refused: ShownRefusal }) {
  return (
    <div className={`notice ${TONE_CLASS.bad}`} role="alert">
      <OctagonX className="icon" aria-hidden="true" />
      <p>
        <b className="font-medium">
          {refused.title}.{refused.code !== NO_ANSWER.code && " Nothing was changed."}
        </b>{" "}
        <span className="text-muted-foreground">
          <Advice words={refused.advice} /> <span className="mono">{refused.code}</span>
        </span>
      </p>
    </div>
  );
}
