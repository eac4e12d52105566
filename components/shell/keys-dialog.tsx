"use client";

import { Key } from "@/components/console/key";
import { Dialog } from "@/components/ui/dialog";
import { PAGES } from "./pages";
import { usePalette } from "./palette-state";
import { useReader } from "./reader";

type Shortcut = readonly [what: string, ...keys: string[]];

const LISTS: readonly Shortcut[] = [
  ["Move down, up", "J", "K"],
  ["Open", "⏎"],
  ["Select", "X"],
  ["Show new rows", "N"],
  ["Filter", "F"],
];
const TICKET: readonly Shortcut[] = [
  ["Allow; high risk arms it", "A"],
  ["Deny", "D"],
  ["Write a reason", "R"],
  ["Structured or raw", "V"],
  ["Open the next fold", "O"],
  ["Copy the hash", "H"],
];

export function KeysDialog() {
  const { overlay, close } = usePalette();
  const { role } = useReader();
  const everywhere: readonly Shortcut[] = [
    ["Any page or id", "⌘", "K"],
    ...PAGES.filter((page) => page.roles.includes(role)).map(
      (page): Shortcut => [`Go to ${page.name}`, "G", page.key.toUpperCase()],
    ),
    ["Back, or leave the armed state", "Esc"],
  ];
  return (
    <Dialog open={overlay === "keys"} onOpenChange={(open) => !open && close()} title="Keyboard shortcuts" wide>
      <div className="keys">
        <Group name="Lists" shortcuts={LISTS} />
        <Group name="A ticket" shortcuts={TICKET} />
        <Group name="Everywhere" shortcuts={everywhere} />
      </div>
      <p className="px-4 pb-4 text-meta text-muted-foreground">
        A held key counts once. Keys are off inside fields and for the first 400 ms of a ticket.
      </p>
    </Dialog>
  );
}

function Group({ name, shortcuts }: { readonly name: string; readonly shortcuts: readonly Shortcut[] }) {
  return (
    <section>
      <h3 className="small-head pt-2.5">{name}</h3>
      <dl>
        {shortcuts.map(([what, ...keys]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              <span className="sr-only">{keys.join(" ")}</span>
              {keys.map((key) => (
                <Key key={key}>{key}</Key>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
