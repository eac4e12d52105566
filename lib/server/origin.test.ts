import { describe, expect, it } from "vitest";
import { isOwnRead, isOwnWrite } from "./origin";

const OWN = "https://hold.example";
const headers = (values: Record<string, string>) => new Headers(values);

const FOREIGN: readonly (readonly [string, Record<string, string>])[] = [
  ["no Origin", {}],
  ["no Origin, own Sec-Fetch-Site", { "sec-fetch-site": "same-origin" }],
  ["an opaque Origin", { origin: "null" }],
  ["a foreign Origin", { origin: "https://evil.example" }],
  [
    "a foreign Origin with our own X-Forwarded-Host",
    { origin: "https://evil.example", "x-forwarded-host": "evil.example" },
  ],
  ["a foreign Origin with a matching Host", { origin: "https://evil.example", host: "evil.example" }],
  ["a sibling subdomain", { origin: "https://a.hold.example" }],
  ["the parent domain", { origin: "https://example" }],
  ["our name as a prefix", { origin: "https://hold.example.evil.example" }],
  ["the other scheme", { origin: "http://hold.example" }],
  ["another port", { origin: "https://hold.example:8443" }],
  ["the default port spelled out", { origin: "https://hold.example:443" }],
  ["a path behind it", { origin: "https://hold.example/" }],
  ["two origins", { origin: "https://hold.example, https://evil.example" }],
  ["other letters' case", { origin: "https://HOLD.example" }],
  ["own Origin, cross-site fetch", { origin: OWN, "sec-fetch-site": "cross-site" }],
  ["own Origin, same-site fetch", { origin: OWN, "sec-fetch-site": "same-site" }],
  ["own Origin, typed by the user", { origin: OWN, "sec-fetch-site": "none" }],
  ["own Origin, malformed Sec-Fetch-Site", { origin: OWN, "sec-fetch-site": "same-origin, cross-site" }],
];

describe("a write", () => {
  it.each(FOREIGN)("is refused with %s", (_what, values) => {
    expect(isOwnWrite(headers(values), OWN)).toBe(false);
  });

  it.each([
    ["own Origin", { origin: OWN }],
    ["own Origin and Sec-Fetch-Site", { origin: OWN, "sec-fetch-site": "same-origin" }],
    ["own Origin behind a proxy that names another host", { origin: OWN, "x-forwarded-host": "internal:3000" }],
  ])("passes with %s", (_what, values) => {
    expect(isOwnWrite(headers(values), OWN)).toBe(true);
  });
});

describe("a read", () => {
  it.each([
    ["a browser's own fetch", { "sec-fetch-site": "same-origin" }, true],
    ["no hint at all", {}, true],
    ["another site's page", { "sec-fetch-site": "cross-site" }, false],
    ["a sibling's page", { "sec-fetch-site": "same-site" }, false],
    ["a foreign Origin", { origin: "https://evil.example" }, false],
  ])("%s: %s", (_what, values, allowed) => {
    expect(isOwnRead(headers(values), OWN)).toBe(allowed);
  });
});
