"use client";

import { useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { CircleDot, Search, Workflow } from "lucide-react";
import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import { Key } from "@/components/console/key";
import { Quoted } from "@/components/console/pieces";
import { pathWith, readConsole } from "@/components/console/read";
import { BareDialog, DialogClose } from "@/components/ui/dialog";
import type { PaletteAnswer } from "@/lib/protocol/console-view";
import { PAGES } from "./pages";
import { usePalette } from "./palette-state";
import { useReader } from "./reader";

/** Every page, and any ticket or run by its id. It opens pages; it never acts. */
export function Palette() {
  const { overlay, close } = usePalette();
  return (
    <BareDialog open={overlay === "palette"} onOpenChange={(open) => !open && close()} title="Go to a page or id">
      <PaletteContent onDone={close} />
    </BareDialog>
  );
}

function PaletteContent({ onDone }: { readonly onDone: () => void }) {
  const [typed, setTyped] = useState("");
  const asked = typed.trim();
  const router = useRouter();
  const { role } = useReader();
  const found = useQuery({
    queryKey: ["palette", asked],
    queryFn: ({ signal }) => readConsole<PaletteAnswer>(pathWith("/console/find", { q: asked }), signal),
    placeholderData: (before) => before,
  });
  const go = (href: string) => {
    onDone();
    router.push(href);
  };
  // While the answer to what was just typed is on its way, the one before it may only show what still matches.
  const tickets = (found.data?.tickets ?? []).filter(
    (it) => startsWith(asked, it.ticket_id, it.action, it.agent) || !found.isPlaceholderData,
  );
  const runs = (found.data?.runs ?? []).filter(
    (it) => startsWith(asked, it.run_id, it.agent) || !found.isPlaceholderData,
  );
  const pages = PAGES.filter(
    (page) => page.roles.includes(role) && page.name.toLowerCase().includes(asked.toLowerCase()),
  );
  return (
    <Command shouldFilter={false} loop label="Go to a page or id">
      <div className="dialog-head">
        <Search className="icon text-subtle-foreground" aria-hidden="true" />
        <Command.Input
          autoFocus
          className="palette-input"
          placeholder="Page, id or hash"
          value={typed}
          onValueChange={setTyped}
        />
        <DialogClose />
      </div>
      <Command.List className="palette-list">
        <Command.Empty className="menu-head">
          {found.isError ? "Ids could not be looked up. Pages still open." : "No page or id matches."}
        </Command.Empty>
        {tickets.length > 0 && (
          <Command.Group heading="Open tickets">
            {tickets.map((ticket) => (
              <Item
                key={ticket.ticket_id}
                value={`ticket ${ticket.ticket_id}`}
                onSelect={() => go(`/tickets/${ticket.ticket_id}`)}
                icon={<CircleDot className="icon icon-sm" aria-hidden="true" />}
              >
                <span className="mono">
                  {ticket.ticket_id.slice(0, 8)}…{ticket.ticket_id.slice(-4)}
                </span>
                <span className="cut">
                  <Quoted text={ticket.action} />
                </span>
                <span className="end">
                  <Quoted text={ticket.agent} />
                </span>
              </Item>
            ))}
          </Command.Group>
        )}
        {runs.length > 0 && (
          <Command.Group heading="Runs">
            {runs.map((run) => (
              <Item
                key={run.run_id}
                value={`run ${run.run_id}`}
                onSelect={() => go(`/runs/${encodeURIComponent(run.run_id)}`)}
                icon={<Workflow className="icon icon-sm" aria-hidden="true" />}
              >
                <span className="mono cut">
                  <Quoted text={run.run_id} />
                </span>
                <span className="end">
                  <Quoted text={run.agent} />
                </span>
              </Item>
            ))}
          </Command.Group>
        )}
        {pages.length > 0 && (
          <Command.Group heading="Pages">
            {pages.map((page) => (
              <Item
                key={page.href}
                value={`page ${page.href}`}
                onSelect={() => go(page.href)}
                icon={<page.icon className="icon icon-sm" aria-hidden="true" />}
              >
                {page.name}
                <span className="end">
                  <Key>G</Key>
                  <Key>{page.key.toUpperCase()}</Key>
                </span>
              </Item>
            ))}
          </Command.Group>
        )}
      </Command.List>
    </Command>
  );
}

function startsWith(typed: string, ...fields: readonly string[]): boolean {
  return fields.some((field) => field.toLowerCase().startsWith(typed.toLowerCase()));
}

interface ItemProps {
  readonly value: string;
  readonly icon: ReactNode;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

function Item({ value, icon, onSelect, children }: ItemProps) {
  return (
    <Command.Item className="palette-item" value={value} onSelect={onSelect}>
      {icon}
      {children}
    </Command.Item>
  );
}
