import type { Marks } from "@/components/console/pieces";

/** Beyond this a mark a character is noise: the two columns stand side by side. */
const LONGEST = 200;

/**
 * Where a drawn value differs from the one before. Numbers are marked whole, never digit by digit; two texts that share
 * little are not marked at all, their flag says that one is new.
 */
export function differenceMarks(now: string, before: string, isNumber: boolean): Marks {
  if (now === before || now.length > LONGEST || before.length > LONGEST) return [];
  if (isNumber) return [{ from: 0, to: now.length }];
  if (now.length === before.length) return samePlace(now, before);
  let head = 0;
  while (head < now.length && now[head] === before[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(now.length, before.length) - head && now.at(-1 - tail) === before.at(-1 - tail)) tail += 1;
  const shared = head + tail;
  return shared * 2 < now.length ? [] : [{ from: head, to: now.length - tail }];
}

function samePlace(now: string, before: string): Marks {
  const marks: { from: number; to: number }[] = [];
  let equal = 0;
  for (let at = 0; at < now.length; at += 1) {
    if (now[at] === before[at]) {
      equal += 1;
      continue;
    }
    const last = marks.at(-1);
    if (last?.to === at) last.to = at + 1;
    else marks.push({ from: at, to: at + 1 });
  }
  return equal * 3 < now.length ? [] : marks;
}
