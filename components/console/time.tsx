"use client";

import { AlarmClock, Timer } from "lucide-react";
import { drawnAsText } from "@/lib/protocol/hidden-characters";
import { age, clock, countdown, dayOf, fullMoment, machineTime, moment, nearness, span } from "./moment";
import { useServerSecond } from "./server-clock";

/** A moment: absolute on the page, whole in its title. */
export function Moment({ atMs }: { readonly atMs: number }) {
  const now = useServerSecond();
  return (
    <time dateTime={machineTime(atMs)} title={fullMoment(atMs)}>
      {moment(atMs, now)}
    </time>
  );
}

export function Day({ atMs }: { readonly atMs: number }) {
  const now = useServerSecond();
  return (
    <time dateTime={machineTime(atMs)} title={fullMoment(atMs)}>
      {dayOf(atMs, now)}
    </time>
  );
}

export function Ago({ atMs }: { readonly atMs: number }) {
  const now = useServerSecond();
  return (
    <time dateTime={machineTime(atMs)} title={fullMoment(atMs)}>
      {span(now - atMs)} ago
    </time>
  );
}

export function Age({ sinceMs }: { readonly sinceMs: number }) {
  const now = useServerSecond();
  return (
    <time dateTime={machineTime(sinceMs)} title={`Asked ${fullMoment(sinceMs)}`}>
      {age(now - sinceMs)}
    </time>
  );
}

interface DueProps {
  readonly deadlineMs: number | null;
  readonly expiredMs: number | null;
}

/** What is left until the deadline: plain, then amber with a timer, then red with an alarm clock. */
export function Due({ deadlineMs, expiredMs }: DueProps) {
  const now = useServerSecond();
  if (deadlineMs === null) return <span className="due text-subtle-foreground">None</span>;
  const left = deadlineMs - now;
  if (expiredMs !== null || left < 0) {
    return (
      <span className="due" data-near="soon" title={`Deadline ${fullMoment(deadlineMs)}`}>
        Expired
      </span>
    );
  }
  const near = nearness(left);
  const Icon = near === "now" ? AlarmClock : Timer;
  return (
    <span className="due" data-near={near} title={`Until ${fullMoment(deadlineMs)}`}>
      {near !== "far" && <Icon className="icon icon-sm" aria-hidden="true" />}
      <time dateTime={machineTime(deadlineMs)}>{countdown(left)}</time>
    </span>
  );
}

/** Clock time to the millisecond, for the trace. `at` has six digits. */
export function TraceTime({ at }: { readonly at: string }) {
  const atMs = Date.parse(at);
  return (
    <time dateTime={machineTime(atMs) && at} title={drawnAsText(at)} className="text-muted-foreground">
      {clock(atMs)}
      {!Number.isNaN(atMs) && <span className="text-subtle-foreground">.{at.slice(20, 23)}</span>}
    </time>
  );
}
