import { Fragment } from "react";
import { differing, Hash } from "./hash";

export interface ComparedHash {
  readonly name: string;
  readonly value: string;
}

interface HashComparisonProps {
  readonly lines: readonly ComparedHash[];
  /** What the others are held against, and the words that say what it is. */
  readonly reference: ComparedHash;
  readonly says: string;
}

/** One line each, aligned in one column; what differs is marked and counted in words, what is equal says so. */
export function HashComparison({ lines, reference, says }: HashComparisonProps) {
  return (
    <dl className="comparison">
      {lines.map((line) => (
        <ComparisonLine key={line.name} line={line} reference={reference} />
      ))}
      <dt>{reference.name}</dt>
      <dd className="equal">
        <Hash value={reference.value} />
      </dd>
      <dd className="says">{says}</dd>
    </dl>
  );
}

function ComparisonLine({ line, reference }: { readonly line: ComparedHash; readonly reference: ComparedHash }) {
  const count = differing(line.value, reference.value);
  const length = Math.max(line.value.length, reference.value.length);
  return (
    <Fragment>
      <dt>{line.name}</dt>
      <dd className={count === 0 ? "equal" : undefined}>
        {count === 0 ? <Hash value={line.value} /> : <Hash value={line.value} against={reference.value} />}
      </dd>
      <dd className={count === 0 ? "says" : "says says-differ"}>
        {count === 0 ? `equals ${reference.name}` : `${count} of ${length} differ`}
      </dd>
    </Fragment>
  );
}
