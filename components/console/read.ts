"use client";

import { noteServerClock } from "./server-clock";

/** A read that did not answer. It says nothing about what is there. */
export class ReadFailed extends Error {
  override readonly name = "ReadFailed";
  readonly status: number;
  readonly at: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
    this.at = Date.now();
  }
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof ReadFailed && error.status === 401;
}

export function isMissing(error: unknown): boolean {
  return error instanceof ReadFailed && error.status === 404;
}

/** Read one of the console's own JSON answers; each carries the server's clock. */
export async function readConsole<Answer extends { readonly now_ms: number }>(
  path: string,
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await send(path, signal);
  if (!response.ok) throw new ReadFailed(response.status, await reasonOf(response));
  const answer = (await response.json()) as Answer;
  noteServerClock(answer.now_ms);
  return answer;
}

async function send(path: string, signal: AbortSignal | undefined): Promise<Response> {
  try {
    return await fetch(path, {
      headers: { accept: "application/json" },
      cache: "no-store",
      ...(signal ? { signal } : {}),
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ReadFailed(0, "The server did not answer.");
  }
}

async function reasonOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const problem: unknown = JSON.parse(text);
    if (typeof problem === "object" && problem !== null && "title" in problem) return String(problem.title);
  } catch {
    // Not a problem document; the status says enough.
  }
  return `HTTP ${response.status}`;
}

/** A path with its query; empty values are left out. */
export function pathWith(path: string, query: Readonly<Record<string, string | null | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value);
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}
