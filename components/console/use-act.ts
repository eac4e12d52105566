"use client";

import { useState } from "react";
import type { ShownRefusal } from "@/lib/protocol/console-view";
import { NO_ANSWER } from "./refused-notice";

type Answer = { readonly ok: true } | { readonly ok: false; readonly refusal: ShownRefusal };

/**
 * One act of a form at a time. Its id is made before the first press and kept until the server says that it is done, so that a press
 * whose answer was lost can be repeated and does nothing twice.
 */
export function useAct() {
  const [sending, setSending] = useState(false);
  const [refused, setRefused] = useState<ShownRefusal | null>(null);
  const [id, setId] = useState<string | null>(null);

  const send = async <Given extends Answer>(
    ask: (id: string) => Promise<Given>,
    done: (given: Extract<Given, { ok: true }>) => void,
  ) => {
    if (sending) return;
    const own = id ?? crypto.randomUUID();
    setId(own);
    setSending(true);
    setRefused(null);
    try {
      const given = await ask(own);
      if (!given.ok) setRefused(given.refusal);
      else {
        setId(null);
        done(given as Extract<Given, { ok: true }>);
      }
    } catch {
      setRefused(NO_ANSWER);
    } finally {
      setSending(false);
    }
  };
  return { sending, refused, send };
}
