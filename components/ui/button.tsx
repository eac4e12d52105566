import { clsx } from "clsx";
import type { ComponentProps } from "react";

type Look = "plain" | "quiet" | "primary";
type Size = "control" | "decide" | "icon" | "icon-sm";

const LOOKS: Readonly<Record<Look, string>> = { plain: "", quiet: "btn-quiet", primary: "btn-primary" };
const SIZES: Readonly<Record<Size, string>> = {
  control: "",
  decide: "btn-decide",
  icon: "btn-icon",
  "icon-sm": "btn-icon-sm",
};

export interface ButtonProps extends ComponentProps<"button"> {
  readonly look?: Look;
  readonly size?: Size;
}

/** One button for all of them. There is no red one: tone is for what happened, not for what might. */
export function Button({ look = "plain", size = "control", className, type = "button", ...rest }: ButtonProps) {
  return <button type={type} className={buttonClass(look, size, className)} {...rest} />;
}

/** A link that looks like a button. */
export function buttonClass(look: Look = "plain", size: Size = "control", className?: string): string {
  return clsx("btn", LOOKS[look], SIZES[size], className);
}
