import type { EffectLine } from "@/lib/protocol/console-view";

/** What a call touches, in one line. When it must be cut, the first part is; where the effect goes to always stays. */
export function Effect({ effect }: { readonly effect: EffectLine }) {
  if (effect.lead === "" && effect.keep === "") return null;
  return (
    <bdi className="target" dir="ltr">
      {effect.lead !== "" && <span className={effect.lead.length < 4 ? "lead whole" : "lead"}>{effect.lead}</span>}
      {effect.keep !== "" && <span className="keep">{effect.keep}</span>}
    </bdi>
  );
}
