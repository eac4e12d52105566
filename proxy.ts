import { randomBytes } from "node:crypto";
import { type NextRequest, NextResponse } from "next/server";

/**
 * The security headers that depend on the request: a fresh nonce for every answer, prefetches included.
 *
 * Next reads the nonce from the request's policy and stamps it on each script and style that it writes;
 * `strict-dynamic` passes the trust on to what those load, and to nothing else.
 */
export function proxy(request: NextRequest): NextResponse {
  const policy = contentSecurityPolicy(randomBytes(18).toString("base64"));
  const headers = new Headers(request.headers);
  headers.set("content-security-policy", policy);
  const { pathname } = request.nextUrl;
  const response = isReadable(pathname)
    ? NextResponse.next({ request: { headers } })
    : NextResponse.rewrite(new URL(isData(pathname) ? "/api/v1/no-such-call" : "/no-such-page", request.url), {
        request: { headers },
      });
  response.headers.set("content-security-policy", policy);
  // Data has its own rules (streams, conditional answers); a page must not outlive its session in any cache.
  if (!isData(pathname)) response.headers.set("cache-control", "no-store");
  return response;
}

/** Everything but the built files, which are public, named by their content and executed by nobody on their own. */
export const config = { matcher: ["/((?!_next/static/).*)"] };

function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'self'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Next answers a path that it cannot decode as if the fault were ours; it names nothing, so nothing is there. */
function isReadable(pathname: string): boolean {
  try {
    decodeURIComponent(pathname);
    return true;
  } catch {
    return false;
  }
}

function isData(pathname: string): boolean {
  return pathname.startsWith("/api/") || pathname.startsWith("/console/");
}
