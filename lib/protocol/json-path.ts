const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** One step further down a JSON path: `args` and `items` → `args.items`, then 3 → `args.items[3]`, `a key` → `["a key"]`. */
export function pathTo(parent: string, step: string | number): string {
  if (typeof step === "number") return `${parent}[${step}]`;
  if (!PLAIN_KEY.test(step)) return `${parent}[${JSON.stringify(step)}]`;
  return parent === "" ? step : `${parent}.${step}`;
}
