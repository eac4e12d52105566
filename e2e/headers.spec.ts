import { expect } from "@playwright/test";
import { test } from "./test";

test("every answer carries the safety headers, and no page allows a script without its own nonce", async ({
  request,
}) => {
  const nonces = new Set<string>();
  for (const headers of [{}, { "next-router-prefetch": "1", rsc: "1" }, { purpose: "prefetch" }]) {
    const answer = await request.get("/sign-in", { headers });
    const got = answer.headers();
    const policy = got["content-security-policy"] ?? "";
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe-(inline|eval)/);
    expect(got).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": expect.stringContaining("no-store"),
    });
    expect(got).not.toHaveProperty("x-powered-by");
    nonces.add(/'nonce-([^']+)'/.exec(policy)?.[1] ?? "");
  }
  expect(nonces.size).toBe(3);
  expect(nonces).not.toContain("");
});
