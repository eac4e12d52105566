"use client";

import { DatabaseZap, ListFilter, LogIn, type LucideIcon, RefreshCw, SearchX, X } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Button, buttonClass } from "@/components/ui/button";
import type { Tone } from "@/lib/protocol/verdict-words";
import { CopyButton } from "./copy-button";
import { isMissing, isSignedOut, ReadFailed } from "./read";
import { TONE_CLASS } from "./status";
import { Moment } from "./time";

interface StateProps {
  readonly icon: LucideIcon;
  readonly tone: Tone;
  readonly title: ReactNode;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  readonly alert?: boolean;
}

/** The shape that empty, failing and signed out share: a mark, a fact, an explanation, the one next step. */
export function State({ icon: Icon, tone, title, children, actions, alert = false }: StateProps) {
  return (
    <div className={`state ${TONE_CLASS[tone]}`} role={alert ? "alert" : undefined}>
      <Icon className="icon" aria-hidden="true" />
      <h2>{title}</h2>
      {children}
      {actions && <div className="mt-3 flex flex-wrap gap-2">{actions}</div>}
    </div>
  );
}

interface FailingProps {
  /** As "The inbox". */
  readonly what: string;
  /** What the failure does not say. */
  readonly unknown: string;
  readonly error: unknown;
  readonly onRetry: () => void;
}

interface UnreadProps {
  /** As "inbox". */
  readonly what: string;
  /** What a failure does not say. */
  readonly unknown: string;
  readonly query: { readonly isPending: boolean; readonly error: unknown; readonly refetch: () => unknown };
  readonly dense?: boolean;
  /** Instead, where there is no such thing. */
  readonly missing?: ReactNode;
}

/** In place of what a page has not read yet: it is being read, it is not there, or it is not to be had. */
export function Unread({ what, unknown, query, dense = false, missing }: UnreadProps) {
  if (query.isPending) return <LoadingRows what={`the ${what}`} dense={dense} />;
  if (missing !== undefined && isMissing(query.error)) return missing;
  return <Failing what={`The ${what}`} unknown={unknown} error={query.error} onRetry={() => void query.refetch()} />;
}

/** Another workspace's is the same as none. */
export function NoSuch({ what, list }: { readonly what: string; readonly list: "inbox" | "runs" }) {
  return (
    <State
      icon={SearchX}
      tone="off"
      title={`No such ${what}`}
      actions={
        <Link className={buttonClass()} href={`/${list}`}>
          Open the {list}
        </Link>
      }
    >
      <p>There is no {what} with this id in this workspace.</p>
    </State>
  );
}

interface NoMatchProps {
  /** As "run". */
  readonly what: string;
  readonly onClear: () => void;
  readonly children?: ReactNode;
}

/** The filters are why a list is empty, and the one next step is to clear them. */
export function NoMatch({ what, onClear, children }: NoMatchProps) {
  return (
    <State
      icon={ListFilter}
      tone="off"
      title={`No ${what} matches these filters`}
      actions={
        <Button onClick={onClear}>
          <X className="icon icon-sm" aria-hidden="true" />
          Clear the filters
        </Button>
      }
    >
      {children}
    </State>
  );
}

/** A failed read never looks like an empty list. */
export function Failing({ what, unknown, error, onRetry }: FailingProps) {
  if (isSignedOut(error)) return <SignedOut />;
  const at = error instanceof ReadFailed ? error.at : null;
  const details = error instanceof Error ? error.message : String(error);
  return (
    <State
      icon={DatabaseZap}
      tone="bad"
      title={`${what} could not be read`}
      alert
      actions={
        <>
          <Button onClick={onRetry}>
            <RefreshCw className="icon icon-sm" aria-hidden="true" />
            Try now
          </Button>
          <CopyButton text={details} label="Copy details" />
        </>
      }
    >
      <p>
        {unknown}
        {at !== null && (
          <>
            {" "}
            It was tried at <Moment atMs={at} />.
          </>
        )}
      </p>
      <p className="mono mt-2 text-foreground">{details}</p>
    </State>
  );
}

/** Back to this page with its filters. */
export function signInAndBack(): string {
  const here = typeof window === "undefined" ? "" : window.location.pathname + window.location.search;
  return `/sign-in?next=${encodeURIComponent(here)}`;
}

export function SignedOut() {
  return (
    <State
      icon={LogIn}
      tone="off"
      title="Your session ended"
      alert
      actions={
        <a className={buttonClass("primary")} href={signInAndBack()}>
          Sign in
        </a>
      }
    >
      <p>Nothing you pressed since then was decided. Sign in to come back to this page, with its filters.</p>
    </State>
  );
}

/** Rows of the real height, after 150 ms; never over facts. */
export function LoadingRows({
  what,
  rows = 8,
  dense = false,
}: {
  readonly what: string;
  readonly rows?: number;
  readonly dense?: boolean;
}) {
  return (
    <div role="status" aria-label={`Loading ${what}`} className="after-150ms">
      {Array.from({ length: rows }, (_, row) => (
        <div
          // The rows are all alike and never move.
          key={`${what}-${row}`}
          className={`flex items-center gap-8 border-b border-border px-[var(--gutter)] ${dense ? "h-[var(--row-dense)]" : "h-[var(--row)]"}`}
        >
          <span className="skeleton w-11" />
          <span className={`skeleton ${WIDTHS[row % WIDTHS.length]}`} />
          <span className="skeleton ml-auto w-10" />
        </div>
      ))}
    </div>
  );
}

const WIDTHS = ["w-[56%]", "w-[42%]", "w-[63%]", "w-[48%]", "w-[58%]", "w-[37%]"] as const;
