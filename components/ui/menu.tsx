"use client";

import { Menu as BaseMenu } from "@base-ui/react/menu";
import { Check } from "lucide-react";
import type { ReactElement, ReactNode } from "react";

interface MenuProps {
  readonly trigger: ReactElement<Record<string, unknown>>;
  readonly children: ReactNode;
  readonly side?: "top" | "bottom" | "right";
}

export function Menu({ trigger, children, side = "bottom" }: MenuProps) {
  return (
    <BaseMenu.Root>
      <BaseMenu.Trigger render={trigger} />
      <BaseMenu.Portal>
        <BaseMenu.Positioner className="z-[45]" side={side} align="start" sideOffset={4}>
          <BaseMenu.Popup className="menu">{children}</BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

export function MenuItem({ onClick, children }: { readonly onClick: () => void; readonly children: ReactNode }) {
  return (
    <BaseMenu.Item className="menu-item" onClick={onClick}>
      {children}
    </BaseMenu.Item>
  );
}

interface MenuChoiceProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly choices: readonly { readonly value: string; readonly label: ReactNode }[];
}

/** One of several; the chosen one has a tick, never a colour alone. */
export function MenuChoice({ value, onChange, choices }: MenuChoiceProps) {
  return (
    <BaseMenu.RadioGroup value={value} onValueChange={(next) => onChange(String(next))}>
      {choices.map((choice) => (
        <BaseMenu.RadioItem key={choice.value} value={choice.value} className="menu-item" closeOnClick>
          <span className="grid w-4 place-items-center">
            <BaseMenu.RadioItemIndicator>
              <Check className="icon icon-sm" aria-hidden="true" />
            </BaseMenu.RadioItemIndicator>
          </span>
          <span className="cut min-w-0">{choice.label}</span>
        </BaseMenu.RadioItem>
      ))}
    </BaseMenu.RadioGroup>
  );
}
