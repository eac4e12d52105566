"use client";

import { Equal, GitCompare, History, OctagonX, RefreshCw, TimerOff } from "lucide-react";
import { Hash, Marked } from "@/components/console/hash";
import { Quoted } from "@/components/console/pieces";
import { TONE_CLASS } from "@/components/console/status";
import { Ago, Moment } from "@/components/console/time";
import { Button } from "@/components/ui/button";
import { canonicalJson, type JsonObject } from "@/lib/protocol/canonical-json";
import type { TicketPage } from "@/lib/protocol/console-view";
import type { VerifiedView } from "./verify-view";

/** What is drawn is not what is stored: Deny still works, Allow does not. */
export function NotVerified({ drawn, stored }: { readonly drawn: string; readonly stored: string }) {
  return (
    <div className={`notice ${TONE_CLASS.bad} mt-4`} role="alert">
      <OctagonX className="icon" aria-hidden="true" />
      <div className="min-w-0">
        <p className="font-medium">This page does not hash to the stored proposal. Allow is off.</p>
        <p className="text-muted-foreground">
          Deny still works. Reload; if it stays, tell an owner before anyone decides.
        </p>
        <dl className="comparison mt-2">
          <dt>this page</dt>
          <dd>
            <Hash value={drawn} against={stored} />
          </dd>
          <dd className="says" />
          <dt>stored</dt>
          <dd className="equal">
            <Hash value={stored} />
          </dd>
          <dd className="says" />
        </dl>
      </div>
    </div>
  );
}

export function ExpiredNotice({ page }: { readonly page: TicketPage }) {
  if (page.status !== "open" || page.expired_ms === null) return null;
  return (
    <div className={`notice ${TONE_CLASS.wait} mt-4`}>
      <TimerOff className="icon" aria-hidden="true" />
      <div>
        <p className="font-medium">
          The deadline passed <Ago atMs={page.deadline_ms ?? page.expired_ms} />. An answer no longer counts.
        </p>
        <p className="text-muted-foreground">
          The run stays parked. Replace asks again with a new deadline and a new id; Cancel call lets the run go on
          without it, and Cancel run ends the run.
        </p>
        {page.late_verdicts.map((late) => (
          <p key={`${late.actor}${late.at_ms}`} className="mt-1.5 flex items-center gap-1.5 text-muted-foreground">
            <History className="icon icon-sm" aria-hidden="true" />
            <span>
              Kept: {late.verdict.replace("_", " ")} by <Quoted text={late.actor} />, <Moment atMs={late.at_ms} />
            </span>
          </p>
        ))}
      </div>
    </div>
  );
}

interface StaleViewProps {
  readonly read: JsonObject;
  readonly now: VerifiedView;
  readonly revision: number;
  readonly onShow: () => void;
}

/** The ticket changed while it was read: what you read, beside what it is now. */
export function StaleView({ read, now, revision, onShow }: StaleViewProps) {
  const changed = changedFacts(read, now.view ?? {});
  const sameProposal = read.proposal_hash === now.storedHash;
  return (
    <section className="mt-4" aria-label="What changed">
      <div className={`notice ${TONE_CLASS.wait}`} role="alert">
        <GitCompare className="icon" aria-hidden="true" />
        <div className="min-w-0 flex-1">
          <p className="font-medium">This ticket changed while you read it. Nothing was decided.</p>
          <p className="text-muted-foreground">
            Read what is new, then decide. Allow and Deny return with revision {revision}.
          </p>
        </div>
        <Button look="primary" onClick={onShow}>
          <RefreshCw className="icon icon-sm" aria-hidden="true" />
          Show revision {revision}
        </Button>
      </div>
      <table className="plain-table mt-2">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">You read</th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        <tbody>
          {changed.map((fact) => (
            <tr key={fact.name}>
              <th scope="row" className="text-muted-foreground">
                {fact.name}
              </th>
              <td className="mono text-muted-foreground">
                {fact.atMs.read === null ? (
                  <Marked text={fact.read} other={fact.now} />
                ) : (
                  <Moment atMs={fact.atMs.read} />
                )}
              </td>
              <td className="mono">
                {fact.atMs.now === null ? (
                  <Marked text={fact.now} other={fact.read} />
                ) : (
                  <Moment atMs={fact.atMs.now} />
                )}
              </td>
            </tr>
          ))}
          {sameProposal && (
            <tr>
              <th scope="row" className="text-muted-foreground">
                proposal
              </th>
              <td colSpan={2}>
                <span className={`status ${TONE_CLASS.off}`}>
                  <Equal className="icon icon-sm" aria-hidden="true" />
                  the same in both
                </span>
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

interface ChangedFact {
  readonly name: string;
  readonly read: string;
  readonly now: string;
  readonly atMs: { readonly read: number | null; readonly now: number | null };
}

const SAID_ELSEWHERE = new Set(["revision", "proposal_hash", "v", "kind"]);

function changedFacts(read: JsonObject, now: JsonObject): readonly ChangedFact[] {
  return Object.keys(now)
    .filter((name) => !SAID_ELSEWHERE.has(name))
    .map((name) => {
      const isMoment = name.endsWith("_ms");
      const then = read[name] ?? null;
      const present = now[name] ?? null;
      return {
        name: name.replace(/_ms$/, "").replaceAll("_", " "),
        read: canonicalJson(then),
        now: canonicalJson(present),
        atMs: {
          read: isMoment && typeof then === "number" ? then : null,
          now: isMoment && typeof present === "number" ? present : null,
        },
      };
    })
    .filter((fact) => fact.read !== fact.now);
}
