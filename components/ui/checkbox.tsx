"use client";

import { clsx } from "clsx";
import { type ComponentProps, useEffect, useRef } from "react";

export interface CheckboxProps extends Omit<ComponentProps<"input">, "type"> {
  readonly indeterminate?: boolean;
}

export function Checkbox({ indeterminate = false, className, ...rest }: CheckboxProps) {
  const box = useRef<HTMLInputElement>(null);
  // `indeterminate` exists on the element only: there is no attribute for it.
  useEffect(() => {
    if (box.current) box.current.indeterminate = indeterminate;
  }, [indeterminate]);
  return <input ref={box} type="checkbox" className={clsx("checkbox", className)} {...rest} />;
}
