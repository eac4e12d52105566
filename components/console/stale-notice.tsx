"use client";

import { useQueryClient } from "@tanstack/react-query";
import { DatabaseZap, LogIn, RefreshCw, WifiOff } from "lucide-react";
import { Button, buttonClass } from "@/components/ui/button";
import { useLive } from "./live";
import { isSignedOut, ReadFailed } from "./read";
import { signInAndBack } from "./states";
import { TONE_CLASS } from "./status";
import { Moment } from "./time";

interface Reading {
  /** As "mailbox". */
  readonly what: string;
  readonly query: {
    readonly data: unknown;
    readonly error: unknown;
    readonly dataUpdatedAt: number;
  };
}

/**
 * What is shown is older than it looks: the stream is lost, or the page could not be read again. It stays readable, and says how old it is.
 * What was never read is not stale: that is `Unread`.
 */
export function StaleNotice({ what, query }: Reading) {
  const live = useLive();
  if (live.kind === "lost") {
    return (
      <div className={`notice notice-edge ${TONE_CLASS.wait}`} role="alert">
        <WifiOff className="icon" aria-hidden="true" />
        <div>
          <p className="font-medium">
            Not live since <Moment atMs={live.sinceMs} />. Decisions are off.
          </p>
          <p className="text-muted-foreground">
            This is as committed then. Reconnecting, attempt {live.attempt}; the view is rebuilt before Allow and Deny
            return.
          </p>
        </div>
      </div>
    );
  }
  return <NotReadAgain what={what} query={query} />;
}

/** One part of a page that has a reading of its own. */
export function NotReadAgain({ what, query }: Reading) {
  const queries = useQueryClient();
  const { data, error } = query;
  if (data === undefined || error === null) return null;
  if (isSignedOut(error)) return <EndedNotice query={query} />;
  const details = error instanceof Error ? error.message : String(error);
  return (
    <div className={`notice notice-edge ${TONE_CLASS.wait}`} role="alert">
      <DatabaseZap className="icon" aria-hidden="true" />
      <div>
        <p className="font-medium">
          The {what} could not be read again
          {error instanceof ReadFailed && (
            <>
              {" "}
              at <Moment atMs={error.at} />
            </>
          )}
          .
        </p>
        <p className="text-muted-foreground">
          What stands here was read at <Moment atMs={query.dataUpdatedAt} /> and may have changed since.{" "}
          <span className="mono">{details}</span>
        </p>
        <p className="mt-2">
          <Button onClick={() => void queries.refetchQueries({ type: "active", predicate: isFailed })}>
            <RefreshCw className="icon icon-sm" aria-hidden="true" />
            Try now
          </Button>
        </p>
      </div>
    </div>
  );
}

/** Whatever else on the page failed, failed of the same cause. */
function isFailed({ state }: { readonly state: { readonly status: string } }): boolean {
  return state.status === "error";
}

function EndedNotice({ query }: Pick<Reading, "query">) {
  return (
    <div className={`notice notice-edge ${TONE_CLASS.wait}`} role="alert">
      <LogIn className="icon" aria-hidden="true" />
      <div>
        <p className="font-medium">Your session ended.</p>
        <p className="text-muted-foreground">
          What stands here was read at <Moment atMs={query.dataUpdatedAt} />. Nothing you press is decided before you
          sign in.
        </p>
        <p className="mt-2">
          <a className={buttonClass("primary")} href={signInAndBack()}>
            Sign in
          </a>
        </p>
      </div>
    </div>
  );
}
