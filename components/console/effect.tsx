import type { EffectLine } from "@/lib/protocol/console-view";

/**
 * What a call touches, in one line. When it must be cut, the first part is; where the effect goes to always stays. `whole`: it may take
 * several lines, and nothing of it is cut.
 */
export function Effect({ effect, whole = false }: { readonly effect: EffectLine; readonly whole?: boolean }) {
  if (effect.lead === "" && effect.keep === "") return null;
  return (
    <bdi className={whole ? "target target-whole" : "target"} dir="ltr">
      {effect.lead !== "" && <span className={effect.lead.length < 4 ? "lead whole" : "lead"}>{effect.lead}</span>}
      {effect.keep !== "" && <span className="keep">{effect.keep}</span>}
    </bdi>
  );
}
