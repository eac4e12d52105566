import { Fragment } from "react";

/** Eight groups of eight. Groups are inline and parted by a margin, so that a selection copies 64 plain characters. */
export function Hash({ value, against }: { readonly value: string; readonly against?: string }) {
  return (
    <span className="hash">
      {groupsOf(value).map((group, index) => (
        <Fragment key={`${index}:${group}`}>
          {index > 0 && <wbr />}
          <span>
            {against === undefined ? group : <Marked text={group} other={against.slice(index * 8, index * 8 + 8)} />}
          </span>
        </Fragment>
      ))}
    </span>
  );
}

/** First eight and last four, whole in the title. */
export function ShortHash({ value }: { readonly value: string }) {
  return (
    <span className="mono text-muted-foreground" title={value}>
      {value.slice(0, 8)}
      <span className="text-subtle-foreground">…</span>
      {value.slice(-4)}
    </span>
  );
}

/** The characters that differ get a tint and an underline, runs of them as one mark. */
export function Marked({ text, other }: { readonly text: string; readonly other: string }) {
  return runsOf(text, other).map((run, index) =>
    run.differs ? (
      <span key={`${index}:${run.text}`} className="differs">
        {run.text}
      </span>
    ) : (
      <Fragment key={`${index}:${run.text}`}>{run.text}</Fragment>
    ),
  );
}

export function differing(text: string, other: string): number {
  const length = Math.max(text.length, other.length);
  let count = 0;
  for (let at = 0; at < length; at += 1) if (text[at] !== other[at]) count += 1;
  return count;
}

function groupsOf(value: string): readonly string[] {
  return value.match(/.{1,8}/gs) ?? [];
}

function runsOf(text: string, other: string): readonly { readonly text: string; readonly differs: boolean }[] {
  const runs: { text: string; differs: boolean }[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const differs = text[at] !== other[at];
    const last = runs.at(-1);
    if (last?.differs === differs) last.text += text[at] ?? "";
    else runs.push({ text: text[at] ?? "", differs });
  }
  return runs;
}
