import type { Metadata } from "next";
import { MailboxScreen } from "@/components/mailbox/mailbox-screen";

export const metadata: Metadata = { title: "Mailbox" };

export default function MailboxPage() {
  return <MailboxScreen />;
}
