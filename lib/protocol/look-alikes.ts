/**
 * Letters of other scripts that are drawn like a Latin letter or a digit: the pairs `[look-alike, what it looks like]`.
 * Compact on purpose: the scripts that a keyboard or a font mixes with Latin without a trace. After Unicode UTS #39.
 */
const PAIRS: Readonly<Record<LookAlikeScript, string>> = {
  Cyrillic: "аaсcԁdеeһhіiјjкkӏlоoрpԛqгrѕsѵvԝwхxуyьb" + "АAВBСCЕEНHІIЈJКKМMОOРPԚQЅSТTѴVԜWХXУYҮYӀIЗ3б6",
  Greek: "αaγyηnιiκkνvοoρpτtυuχxωwϲcϳj" + "ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXϹCͿJ",
  Armenian: "օoսuոnհhցgյjզqՕOՍUԼL",
  Latin: "ɑaɡgɩiꞵB",
};

type LookAlikeScript = "Cyrillic" | "Greek" | "Armenian" | "Latin";

/** Marks that are drawn like one that a path, an address or a command is made of, outside the compatibility forms. */
const MARKS = "⁄/∕/⧸/⧵\\․.꞉:∶:‐-‑-−-⁃-ǃ!ꓸ.";

export interface LookAlike {
  readonly like: string;
  readonly origin: string;
}

const LETTERS = new Map<string, LookAlike>(
  Object.entries(PAIRS).flatMap(([script, pairs]) => entries(pairs, `${script} letter`)),
);
const SIGNS = new Map<string, LookAlike>(entries(MARKS, "mark"));

function entries(pairs: string, origin: string): (readonly [string, LookAlike])[] {
  const points = [...pairs];
  return points.flatMap((point, at) => {
    const like = points[at + 1];
    return at % 2 === 0 && like !== undefined ? [[point, { like, origin }] as const] : [];
  });
}

/** A letter that deceives only in company: a Russian word is no disguise, one Cyrillic letter in a Latin word is. */
export function lookAlikeLetter(point: string): LookAlike | null {
  return LETTERS.get(point) ?? null;
}

/** A character that deceives anywhere: a stand-in for a mark, or a fullwidth, mathematical or other form of an ASCII character. */
export function lookAlikeAnywhere(point: string): LookAlike | null {
  return SIGNS.get(point) ?? compatibilityForm(point);
}

/** Raised and lowered figures, and ordinals, are written as such in honest text and look different from what they stand for. */
const SUPERSCRIPTS = /[\u00aa\u00b2\u00b3\u00b9\u00ba\u02b0-\u02ff\u1d2c-\u1d6a\u2070-\u209c]/u;
/** Of the fullwidth marks only those that a path, an address or a command is made of; the others punctuate Chinese and Japanese. */
const ASCII_THAT_ACTS = /^[0-9A-Za-z/\\.@#$%&*+\-<=>^_`|~"']$/;

function compatibilityForm(point: string): LookAlike | null {
  if ((point.codePointAt(0) ?? 0) < 0x80 || SUPERSCRIPTS.test(point)) return null;
  const like = point.normalize("NFKC");
  return ASCII_THAT_ACTS.test(like) ? { like, origin: "compatibility form" } : null;
}
