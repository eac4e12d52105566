/**
 * Say a figure of a safety test: the claim's name and what was counted. `npm run safety` prints these lines, and SAFETY.md quotes
 * them. A figure is said after it was asserted.
 */
export function figure(claim: string, text: string): void {
  process.stdout.write(`SAFETY ${claim}: ${text}\n`);
}
