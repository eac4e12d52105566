import { isIP } from "node:net";
import { ok, type Result, refuse } from "@/lib/result";

/** One entry of `HOLDPOINT_HTTP_HOSTS`. */
export interface HostRule {
  readonly protocol: "https:" | "http:";
  /** As a URL spells it: small letters, an IPv6 address in brackets. Behind `*.` the end of a name. */
  readonly host: string;
  readonly isWildcard: boolean;
  readonly port: number;
  /**
   * Which addresses that are not public it may lead to: `itself` an address that the entry names, `loopback` this machine by the
   * name `localhost`. A name never leads into a private network.
   */
  readonly reaches: "public" | "itself" | "loopback";
}

/** Entries parted by commas or blanks: `api.example.com`, `api.example.com:8443`, `*.example.com`, `http://localhost:8080`. */
export function readHostRules(text: string): Result<readonly HostRule[], string> {
  const rules: HostRule[] = [];
  for (const entry of text.split(/[\s,]+/).filter((part) => part !== "")) {
    const rule = readRule(entry);
    if (rule === null) return refuse(entry);
    rules.push(rule);
  }
  return ok(rules);
}

function readRule(entry: string): HostRule | null {
  const spelt = /^(?:(https?):\/\/)?(\*\.)?([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(entry);
  if (!spelt) return null;
  const [, scheme = "https", wildcard, name = "", port] = spelt;
  const protocol = scheme.toLowerCase() === "http" ? "http:" : "https:";
  const address = `${protocol}//${name}:${port ?? ""}/`;
  if (!URL.canParse(address)) return null;
  const { hostname } = new URL(address);
  const isAddress = isIP(bare(hostname)) !== 0;
  // A star before an address or a single label would be a whole network or a whole top-level domain.
  if (wildcard !== undefined && (isAddress || !hostname.includes("."))) return null;
  return {
    protocol,
    host: hostname,
    isWildcard: wildcard !== undefined,
    port: port === undefined ? defaultPort(protocol) : Number(port),
    reaches: isAddress ? "itself" : hostname === "localhost" && protocol === "http:" ? "loopback" : "public",
  };
}

/** The entry that lets a request through: the same protocol, host and port. A star stands for one label or more. */
export function ruleFor(url: URL, rules: readonly HostRule[]): HostRule | null {
  const port = url.port === "" ? defaultPort(url.protocol) : Number(url.port);
  return (
    rules.find(
      (rule) =>
        rule.protocol === url.protocol &&
        rule.port === port &&
        (rule.isWildcard ? url.hostname.endsWith(`.${rule.host}`) : url.hostname === rule.host),
    ) ?? null
  );
}

/** A URL's host without the brackets of an IPv6 address. */
export function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

function defaultPort(protocol: string): number {
  return protocol === "http:" ? 80 : 443;
}
