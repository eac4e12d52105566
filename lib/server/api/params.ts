/** The path's parameters by the door's template, each decoded once; null for a path that is not the door's. */
export function paramsOf(template: string, pathname: string): Readonly<Record<string, string>> | null {
  const names = template.split("/");
  const parts = pathname.split("/");
  if (names.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const part = parts[index] ?? "";
    const field = /^\{(.+)\}$/.exec(name)?.[1];
    if (field === undefined) {
      if (name !== part) return null;
      continue;
    }
    const decoded = decode(part);
    // No id holds U+0000, and the database could not even be asked.
    if (decoded === null || decoded === "" || decoded.includes("\0")) return null;
    params[field] = decoded;
  }
  return params;
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
