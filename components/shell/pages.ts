import { Bot, Inbox, type LucideIcon, Mailbox, OctagonX, Workflow } from "lucide-react";
import type { Role } from "@/lib/protocol/principal";

export interface ConsolePage {
  readonly name: string;
  readonly href: string;
  readonly icon: LucideIcon;
  /** After G. */
  readonly key: string;
  readonly roles: readonly Role[];
}

/** The pages that exist, and who may read them. The palette, the side, the tabs and the G keys come from this list. */
export const PAGES: readonly ConsolePage[] = [
  { name: "Inbox", href: "/inbox", icon: Inbox, key: "i", roles: ["approver", "operator", "owner"] },
  { name: "Runs", href: "/runs", icon: Workflow, key: "r", roles: ["approver", "operator", "owner"] },
  { name: "Agents", href: "/agents", icon: Bot, key: "a", roles: ["operator", "owner"] },
  { name: "Mailbox", href: "/mailbox", icon: Mailbox, key: "m", roles: ["operator", "owner"] },
  { name: "Refusals", href: "/refusals", icon: OctagonX, key: "f", roles: ["operator", "owner"] },
];
