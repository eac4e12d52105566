import { clsx } from "clsx";
import type { ComponentProps } from "react";

export function Input({ className, type = "text", ...rest }: ComponentProps<"input">) {
  return <input type={type} className={clsx("input", className)} autoComplete="off" {...rest} />;
}

export function TextArea({ className, ...rest }: ComponentProps<"textarea">) {
  return <textarea className={clsx("input", className)} {...rest} />;
}

export function Select({ className, ...rest }: ComponentProps<"select">) {
  return <select className={clsx("input", className)} {...rest} />;
}
