"use client";

import { Quoted } from "@/components/console/pieces";
import type { HiddenKind } from "@/lib/protocol/hidden-characters";
import type { Finding } from "@/lib/protocol/proposal-fields";

const WORDS: Readonly<Record<HiddenKind, { readonly name: string; readonly effect: string }>> = {
  tag: { name: "Tag characters", effect: "invisible anywhere else; a model reads them" },
  bidi: { name: "Direction controls", effect: "would draw text in another order; shown here as stored" },
  zero_width: { name: "Zero-width characters", effect: "split or join words unseen, past a rule that looks for them" },
  control: { name: "Control characters", effect: "would act in a terminal: erase, move, ring" },
  variation_selector: { name: "Variation selectors", effect: "invisible; can carry text that a model reads" },
  line_separator: { name: "Line separators", effect: "break a line where some programs see none" },
  invisible: { name: "Invisible characters", effect: "are drawn with no width anywhere else" },
  odd_space: { name: "Odd spaces", effect: "look like a space and are not one" },
  unassigned: { name: "Characters without a form", effect: "are drawn differently, or not at all, elsewhere" },
  look_alike: { name: "Look-alikes", effect: "are drawn like another character; the token says which it is" },
  blank_run: { name: "Long blanks", effect: "push what follows out of sight; counted below" },
};

/** Findings in plain ink above the proposal, by count, kind and place; the tokens below are the only colour in the text. */
export function FindingsTable({ found }: { readonly found: readonly Finding[] }) {
  return (
    <section className="section" aria-labelledby="findings">
      <div className="section-head">
        <h2 id="findings">Hidden and misleading text</h2>
        <span className="note max-md:hidden">
          {found.length} {found.length === 1 ? "kind" : "kinds"}, each drawn below where it stands
        </span>
      </div>
      <table className="plain-table findings">
        <thead className="sr-only">
          <tr>
            <th scope="col">Count</th>
            <th scope="col">What</th>
            <th scope="col">Where</th>
            <th scope="col">Effect</th>
          </tr>
        </thead>
        <tbody>
          {found.map((finding) => (
            <tr key={finding.kind}>
              <td className="lead-count">{finding.count}</td>
              <td className="whitespace-nowrap font-medium">{WORDS[finding.kind].name}</td>
              <td className="mono wrap-anywhere text-muted-foreground">
                <Quoted text={finding.places.slice(0, 3).join(", ")} />
                {finding.places.length > 3 && ` and ${finding.places.length - 3} more`}
              </td>
              <td className="text-muted-foreground md:min-w-[28ch]">
                {WORDS[finding.kind].effect}
                {finding.spells.map((spelt, index) => (
                  <span key={`${index}:${spelt}`}>
                    {"; "}they spell{" "}
                    <span className="mono text-foreground">
                      <Quoted text={spelt} />
                    </span>
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
