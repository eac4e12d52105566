"use client";

import { ChevronLeft, Search } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Key } from "@/components/console/key";
import { usePalette } from "./palette-state";

/** The way back to the list that a page belongs to. */
export function Crumb({ to }: { readonly to: "Inbox" | "Runs" }) {
  return (
    <>
      <Link className="crumb" href={`/${to.toLowerCase()}`}>
        <ChevronLeft className="icon icon-sm" aria-hidden="true" />
        {to}
      </Link>
      <span className="text-faint" aria-hidden="true">
        /
      </span>
    </>
  );
}

/** The page's heading and facts at the left, the palette at the right. */
export function TopBar({ children }: { readonly children: ReactNode }) {
  const palette = usePalette();
  return (
    <header className="topbar">
      {children}
      <button
        type="button"
        className="palette-button"
        aria-keyshortcuts="Meta+K Control+K"
        onClick={() => palette.open("palette")}
      >
        <Search className="icon icon-sm" aria-hidden="true" />
        <span>Go to a page or id</span>
        <Key>⌘K</Key>
      </button>
    </header>
  );
}
