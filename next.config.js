import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL(".", import.meta.url));

/** What every answer carries, files included. What differs by page (the nonce) is set in proxy.ts. */
const safe = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "no-referrer" },
  { key: "Cross-Origin-Opener-Policy", value: "same-origin" },
  { key: "Cross-Origin-Resource-Policy", value: "same-origin" },
  { key: "X-Frame-Options", value: "DENY" },
];

/** @type {import("next").NextConfig} */
export default {
  output: "standalone",
  outputFileTracingRoot: root,
  turbopack: { root },
  poweredByHeader: false,
  reactStrictMode: true,
  // `npm run check` and `npm test` judge the types, tests included; a start must not need the tests' tools.
  typescript: { ignoreBuildErrors: true },
  headers: async () => [{ source: "/:path*", headers: safe }],
};
