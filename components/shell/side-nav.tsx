"use client";

import { Keyboard, LogOut, Monitor, Moon, Sun } from "lucide-react";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { useTheme } from "next-themes";
import { Avatar } from "@/components/console/avatar";
import { useLive } from "@/components/console/live";
import { Quoted } from "@/components/console/pieces";
import { Moment } from "@/components/console/time";
import { Menu, MenuChoice, MenuItem } from "@/components/ui/menu";
import { Logo } from "./logo";
import { PAGES } from "./pages";
import { usePalette } from "./palette-state";
import { useReader } from "./reader";
import { useOpenCount } from "./use-open-count";

const ROLE_WORDS = { approver: "Approver", operator: "Operator", owner: "Owner" } as const;

export function SideNav({ onSignOut }: { readonly onSignOut: () => void }) {
  const reader = useReader();
  return (
    <nav className="sidebar" aria-label="Main">
      <div className="workspace">
        <Logo />
        <span className="cut">
          <Quoted text={reader.workspace} />
        </span>
      </div>
      <NavLinks />
      <div className="sidebar-foot">
        <LiveLine />
        <Menu
          side="top"
          trigger={
            <button
              type="button"
              className="nav-item"
              aria-label={`${reader.person}, ${ROLE_WORDS[reader.role]}, theme and sign out`}
            >
              <Avatar name={reader.person} />
              <span className="nav-word cut">
                <Quoted text={reader.person} />
              </span>
              <span className="nav-count">{ROLE_WORDS[reader.role]}</span>
            </button>
          }
        >
          <PersonalMenu onSignOut={onSignOut} />
        </Menu>
      </div>
    </nav>
  );
}

function NavLinks() {
  const path = usePathname();
  const { role } = useReader();
  const count = useOpenCount();
  return PAGES.filter((page) => page.roles.includes(role)).map((page) => (
    <Link
      key={page.href}
      className="nav-item"
      href={page.href}
      aria-current={isCurrent(path, page.href) ? "page" : undefined}
    >
      <page.icon className="icon" aria-hidden="true" />
      <span className="nav-word">{page.name}</span>
      {page.href === "/inbox" && count !== null && (
        <span className="nav-count">
          {count}
          <span className="sr-only"> open</span>
        </span>
      )}
    </Link>
  ));
}

function isCurrent(path: string, href: string): boolean {
  return path === href || path.startsWith(`${href}/`) || (href === "/inbox" && path.startsWith("/tickets/"));
}

function LiveLine() {
  const live = useLive();
  return (
    <div className="live-line" data-live={live.kind}>
      <span className="live-dot" data-state={live.kind} />
      <span>
        {live.kind === "live" && (
          <>
            Live · as of <Moment atMs={live.asOfMs} />
          </>
        )}
        {live.kind === "connecting" && "Connecting"}
        {live.kind === "lost" && (
          <>
            Not live since <Moment atMs={live.sinceMs} />
          </>
        )}
      </span>
    </div>
  );
}

const THEMES = [
  { value: "system", label: "System", icon: Monitor },
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
] as const;

function PersonalMenu({ onSignOut }: { readonly onSignOut: () => void }) {
  const { theme, setTheme } = useTheme();
  const { open } = usePalette();
  return (
    <>
      <div className="menu-head">Theme</div>
      <MenuChoice
        value={theme ?? "system"}
        onChange={setTheme}
        choices={THEMES.map(({ value, label, icon: Icon }) => ({
          value,
          label: (
            <span className="flex items-center gap-2">
              <Icon className="icon icon-sm text-subtle-foreground" aria-hidden="true" />
              {label}
            </span>
          ),
        }))}
      />
      <hr className="my-1 border-border border-t" />
      <MenuItem onClick={() => open("keys")}>
        <Keyboard className="icon icon-sm text-subtle-foreground" aria-hidden="true" />
        Keyboard shortcuts
      </MenuItem>
      <MenuItem onClick={onSignOut}>
        <LogOut className="icon icon-sm text-subtle-foreground" aria-hidden="true" />
        Sign out
      </MenuItem>
    </>
  );
}

/** On a phone: the same pages, at the bottom. */
export function TabBar({ onSignOut }: { readonly onSignOut: () => void }) {
  const path = usePathname();
  const { role, person } = useReader();
  const count = useOpenCount();
  return (
    <nav className="tabbar" aria-label="Pages">
      {PAGES.filter((page) => page.roles.includes(role)).map((page) => (
        <Link key={page.href} href={page.href} aria-current={isCurrent(path, page.href) ? "page" : undefined}>
          <page.icon className="icon" aria-hidden="true" />
          {page.name}
          {page.href === "/inbox" && count !== null && (
            <span className="badge">
              {count}
              <span className="sr-only"> open</span>
            </span>
          )}
        </Link>
      ))}
      <Menu
        side="top"
        trigger={
          <button type="button" aria-label={`${person}, theme and sign out`}>
            <Avatar name={person} />
            You
          </button>
        }
      >
        <PersonalMenu onSignOut={onSignOut} />
      </Menu>
    </nav>
  );
}
