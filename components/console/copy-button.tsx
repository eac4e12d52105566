"use client";

import { Check, Copy } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { useAnnounce } from "./live-region";

/** Copies a text whole. The icon turns for a moment; a screen reader is told. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState(false);
  const back = useRef<ReturnType<typeof setTimeout>>(undefined);
  const announce = useAnnounce();
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    announce("Copied");
    setCopied(true);
    clearTimeout(back.current);
    back.current = setTimeout(() => setCopied(false), 1_200);
  };
  const Icon = copied ? Check : Copy;
  return (
    <Button look="quiet" size="icon-sm" aria-label={label} onClick={() => void copy()}>
      <Icon className="icon icon-sm" aria-hidden="true" />
    </Button>
  );
}
