import "server-only";

type HeaderReader = Pick<Headers, "get">;

/**
 * Whether a request that may change something comes from the console's own pages.
 *
 * Next's own check lets a request without Origin through and believes X-Forwarded-Host. This one compares with
 * the configured origin alone: a missing, opaque, foreign or doubled Origin is refused, and so is any
 * Sec-Fetch-Site but `same-origin`. A browser always sends Origin with a POST; what does not is no browser.
 */
export function isOwnWrite(headers: HeaderReader, origin: string): boolean {
  return headers.get("origin") === origin && isSameSite(headers);
}

/**
 * Whether a read of the console's data comes from its own pages. A browser sends no Origin with a same-origin
 * GET, so that it may be missing; where the browser says how the request came about, it must be from here.
 */
export function isOwnRead(headers: HeaderReader, origin: string): boolean {
  const from = headers.get("origin");
  return (from === null || from === origin) && isSameSite(headers);
}

/** Browsers leave Sec-Fetch-Site out on plain http to another machine; its presence is judged, not its absence. */
function isSameSite(headers: HeaderReader): boolean {
  const site = headers.get("sec-fetch-site");
  return site === null || site === "same-origin";
}
