import type { Risk } from "@/lib/protocol/call";

const WORDS: Readonly<Record<Risk, string>> = { low: "Low", medium: "Medium", high: "High" };
const BARS: Readonly<Record<Risk, number>> = { low: 1, medium: 2, high: 3 };
const HEIGHTS = [4, 7.5, 11] as const;

/** Three bars and a word. Only high is red. */
export function RiskMark({ risk }: { readonly risk: Risk }) {
  return (
    <span className="risk" data-risk={risk}>
      <svg viewBox="0 0 14 11" aria-hidden="true">
        {HEIGHTS.map((height, index) => (
          <rect
            key={height}
            x={0.5 + index * 5}
            y={11 - height}
            width="3"
            height={height}
            rx="1"
            data-on={index < BARS[risk] || undefined}
          />
        ))}
      </svg>
      {WORDS[risk]}
    </span>
  );
}
