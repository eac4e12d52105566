"use client";

import { ChevronDown, type LucideIcon, X } from "lucide-react";
import type { ReactNode } from "react";
import { Menu, MenuChoice } from "@/components/ui/menu";
import { Quoted } from "./pieces";

interface FilterProps {
  readonly icon: LucideIcon;
  readonly name: string;
  readonly value: string | null;
  readonly choices: readonly { readonly value: string; readonly label: string; readonly quoted?: boolean }[];
  readonly onChange: (value: string | null) => void;
}

const ALL = "\u0000all";

/** One filter of a list. Unset it is dashed; set it says its value and offers to clear it. Its state lives in the URL. */
export function Filter({ icon: Icon, name, value, choices, onChange }: FilterProps) {
  const known = choices.some((choice) => choice.value === value) || value === null;
  const offered = known ? choices : [...choices, { value: value ?? "", label: value ?? "", quoted: true }];
  const set = offered.find((choice) => choice.value === value);
  return (
    <span className="inline-flex flex-none items-center gap-0.5">
      <Menu
        trigger={
          <button
            type="button"
            className={set ? "chip" : "chip chip-unset"}
            data-set={set ? "" : undefined}
            data-filter=""
          >
            <Icon className="icon icon-sm" aria-hidden="true" />
            {name}
            {set ? (
              <b>{label(set)}</b>
            ) : (
              <ChevronDown className="icon icon-xs text-subtle-foreground" aria-hidden="true" />
            )}
          </button>
        }
      >
        <MenuChoice
          value={value ?? ALL}
          onChange={(next) => onChange(next === ALL ? null : next)}
          choices={[
            { value: ALL, label: "All" },
            ...offered.map((choice) => ({ value: choice.value, label: label(choice) })),
          ]}
        />
      </Menu>
      {set && (
        <button
          type="button"
          className="btn btn-quiet btn-icon-sm"
          aria-label={`Clear ${name}`}
          onClick={() => onChange(null)}
        >
          <X className="icon icon-xs" aria-hidden="true" />
        </button>
      )}
    </span>
  );
}

function label(choice: FilterProps["choices"][number]): ReactNode {
  return choice.quoted ? <Quoted text={choice.label} /> : choice.label;
}
