import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { ok, type Result, refuse } from "@/lib/result";
import { isLoopback, isPublicAddress } from "./addresses";
import type { Effect, Reach } from "./effect";
import { bare, type HostRule, ruleFor } from "./hosts";

/** Where a request goes: the URL, and the one address that its host was resolved to. */
export interface Destination {
  readonly url: URL;
  readonly address: LookupAddress;
}

/**
 * Judge a URL by the list of hosts and by where its host leads now. The host is resolved once, and the request goes to that very
 * address: a name that answers differently the second time leads nowhere else.
 */
export async function destinationOf(url: URL, reach: Reach): Promise<Result<Destination, Effect>> {
  if (url.username !== "" || url.password !== "") return failed("host_not_allowed", "a URL with a user or a password");
  const rule = ruleFor(url, reach.httpHosts ?? []);
  if (rule === null) return failed("host_not_allowed", `${url.origin} is not in HOLDPOINT_HTTP_HOSTS`);
  const addresses = await resolve(bare(url.hostname), reach);
  const [first] = addresses;
  if (!first) return failed("host_not_found", `${url.hostname} has no address`);
  // One address that is not allowed among several is a name that somebody plays with.
  const forbidden = addresses.find(({ address }) => !mayReach(rule, address));
  if (forbidden) return failed("address_not_allowed", `${url.hostname} leads to an address that is not public`);
  return ok({ url, address: first });
}

function mayReach(rule: HostRule, address: string): boolean {
  if (rule.reaches === "itself") return true;
  return rule.reaches === "loopback" ? isLoopback(address) : isPublicAddress(address);
}

async function resolve(host: string, reach: Reach): Promise<readonly LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  try {
    return await (reach.resolve ?? systemResolver)(host);
  } catch {
    return [];
  }
}

function systemResolver(host: string): Promise<readonly LookupAddress[]> {
  return lookup(host, { all: true });
}

function failed(code: "host_not_allowed" | "address_not_allowed" | "host_not_found", detail: string) {
  return refuse({ kind: "failed", code, detail } as const);
}
