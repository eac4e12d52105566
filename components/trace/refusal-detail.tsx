"use client";

import { Fragment } from "react";
import { differing, Marked } from "@/components/console/hash";
import { HashComparison } from "@/components/console/hash-comparison";
import { Quoted } from "@/components/console/pieces";
import { refusedHashes, refusedPairs, type TraceLine } from "@/lib/protocol/trace-line";

/** What was sent, held against what was approved: the hashes side by side, then the fields that explain them. */
export function RefusalDetail({ line }: { readonly line: TraceLine }) {
  const { lines, reference } = refusedHashes(line.payload);
  const pairs = refusedPairs(line.payload);
  if (reference === null && pairs.length === 0) return null;
  return (
    <div role="row">
      <div role="cell" className="trace-detail grid gap-3">
        {reference !== null && (
          <HashComparison
            lines={lines}
            reference={reference}
            says={reference.name === "approval" ? "what was allowed" : "what is stored"}
          />
        )}
        {pairs.length > 0 && (
          <dl className="comparison">
            {pairs.map((pair) => (
              <Pair key={pair.name} pair={pair} />
            ))}
          </dl>
        )}
      </div>
    </div>
  );
}

export function hasDetail(line: TraceLine): boolean {
  return line.refused && (refusedHashes(line.payload).reference !== null || refusedPairs(line.payload).length > 0);
}

function Pair({ pair }: { readonly pair: ReturnType<typeof refusedPairs>[number] }) {
  const count = differing(pair.supplied, pair.frozen);
  const length = Math.max(pair.supplied.length, pair.frozen.length);
  return (
    <Fragment>
      <dt>{pair.name} supplied</dt>
      <dd className="mono">
        <Marked text={pair.supplied} other={pair.frozen} />
      </dd>
      <dd className={count === 0 ? "says" : "says says-differ"}>
        {count === 0 ? "equal" : `${count} of ${length} differ`}
      </dd>
      <dt>{pair.name} frozen</dt>
      <dd className="mono equal">
        <Quoted text={pair.frozen} />
      </dd>
      <dd className="says" />
    </Fragment>
  );
}
