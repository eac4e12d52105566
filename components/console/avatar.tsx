/** Initials; the name stands beside them, so they are decoration. */
export function Avatar({ name }: { readonly name: string }) {
  const words = name.trim().split(/\s+/);
  const initials = `${words[0]?.[0] ?? ""}${words.length > 1 ? (words.at(-1)?.[0] ?? "") : ""}`.toUpperCase();
  return (
    <span className="avatar" aria-hidden="true">
      {initials}
    </span>
  );
}
