import "server-only";
import { randomUUID } from "node:crypto";
import { Busy } from "@/db/client";
import { may, type Verb } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { type RefusalCode, refusalRule } from "@/lib/protocol/refusals";
import { serverSettings } from "./env";
import { log } from "./log";
import { isOwnRead } from "./origin";
import { currentCaller } from "./session";

type Context<Params> = { readonly params: Promise<Params> };

/**
 * The only way to make a route of the console's own data: the request comes from our own pages, somebody is signed in, they may
 * read it. A missing thing and another workspace's are the same 404.
 */
export function consoleRead<Params extends object>(
  verb: Verb,
  read: (caller: Caller, params: Params, query: URLSearchParams) => Promise<object | null>,
): (request: Request, context: Context<Params>) => Promise<Response> {
  return guarded(verb, async (caller, params, request) => {
    const answer = await read(caller, params, new URL(request.url).searchParams);
    return answer === null ? problem("ticket_not_found") : Response.json(answer, { headers: PRIVATE });
  });
}

/** U+0000 as an address has it: no text in the database holds one, and to ask for it is a fault there. */
const NUL = "%00";

/** As `consoleRead`, for an answer that is no JSON: the stream, the bundle. */
export function guarded<Params extends object>(
  verb: Verb,
  answer: (caller: Caller, params: Params, request: Request) => Promise<Response>,
): (request: Request, context: Context<Params>) => Promise<Response> {
  return async (request, context) => {
    try {
      if (!isOwnRead(request.headers, serverSettings().origin)) return problem("not_permitted");
      const caller = await currentCaller();
      if (caller === null) return problem("unauthenticated");
      if (may(caller, verb) === "no") return problem("not_permitted");
      if (request.url.includes(NUL)) return problem("invalid_body");
      return await answer(caller, await context.params, request);
    } catch (cause) {
      if (cause instanceof Busy) return problem("busy");
      const incident = randomUUID();
      log.error({ incident, route: verb, err: cause }, "a read failed");
      return Response.json(
        { title: `The server could not read it, incident ${incident}`, incident },
        { status: 500, headers: PRIVATE },
      );
    }
  };
}

/** Committed facts of one workspace: no cache between here and the reader keeps them. */
const PRIVATE = { "cache-control": "no-store" };

export function problem(code: RefusalCode): Response {
  const { status, title, advice } = refusalRule(code);
  return Response.json({ code, title, detail: advice }, { status, headers: PRIVATE });
}
