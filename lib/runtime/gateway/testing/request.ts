import type { ServerResponse } from "node:http";
import { canonicalJson, type JsonValue } from "@/lib/protocol/canonical-json";
import type { Effect, Reach } from "../effect";
import { perform } from "../gateway";
import { readHostRules } from "../hosts";
import { type Asked, type TargetServer, targetServer } from "./target-server";

export const KEY = "e".repeat(64);

const open: TargetServer[] = [];

/** A target of this machine, at a free port unless told otherwise. */
export async function target(
  answer: (response: ServerResponse, asked: Asked) => void,
  at?: { readonly host?: string; readonly port?: number },
): Promise<TargetServer> {
  const server = await targetServer(answer, at);
  open.push(server);
  return server;
}

export async function closeTargets(): Promise<void> {
  await Promise.all(open.splice(0).map((server) => server.close()));
}

export function reaching(hosts: string, more: Partial<Reach> = {}): Reach {
  const rules = readHostRules(hosts);
  if (!rules.ok) throw new Error(rules.refusal);
  return { writeRoots: [], httpHosts: rules.value, limitMs: 5_000, ...more };
}

export function send(
  url: string,
  args: JsonValue,
  reach: Reach,
  stop = new AbortController().signal,
): Promise<Effect | null> {
  const act = { action: "http_request", args: canonicalJson(args), target: canonicalJson(url), effectKey: KEY };
  return perform(act, reach, stop);
}

export const hello = (response: ServerResponse) => response.end("hello");
