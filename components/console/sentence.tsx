"use client";

import { Fragment, type ReactNode } from "react";
import type { Part, Sentence as Parts } from "@/lib/protocol/sentence";
import { Quoted } from "./pieces";
import { Ago, Moment } from "./time";

/** A sentence from its parts; other people's words stay quotations in it. */
export function Sentence({ parts }: { readonly parts: Parts }) {
  return parts.map((part, index) => {
    const ink = inkOf(part);
    const key = `${index}:${part.kind}`;
    return part.strong ? <b key={key}>{ink}</b> : <Fragment key={key}>{ink}</Fragment>;
  });
}

function inkOf(part: Part): ReactNode {
  switch (part.kind) {
    case "text":
      return part.text;
    case "quoted":
      return <Quoted text={part.text} />;
    case "time":
      return <Moment atMs={part.at_ms} />;
    case "ago":
      return <Ago atMs={part.at_ms} />;
  }
}
