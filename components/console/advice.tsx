import { Fragment } from "react";

/** Our own words from the table of refusals; what is to be typed as it stands is between backticks there. */
export function Advice({ words }: { readonly words: string }) {
  return words
    .split("`")
    .map((part, index) =>
      index % 2 === 1 ? (
        <code key={`${index}:${part}`}>{part}</code>
      ) : (
        <Fragment key={`${index}:${part}`}>{part}</Fragment>
      ),
    );
}
