const NONE = "a failure without words";

/** What was thrown in words, whatever it was: what is thrown need not be an error, and an error's words need not be there to be read. */
export function wordsOf(thrown: unknown): string {
  return said(() => (thrown instanceof Error ? thrown.message : String(thrown)));
}

/** The same, with the place in the program where it arose. */
export function stackOf(thrown: unknown): string {
  return said(() => (thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)));
}

function said(read: () => unknown): string {
  try {
    return String(read());
  } catch {
    return NONE;
  }
}
