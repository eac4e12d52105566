import type { Metadata } from "next";
import { TicketScreen } from "@/components/tickets/ticket-screen";

export const metadata: Metadata = { title: "Ticket" };

export default async function TicketPage({ params }: { readonly params: Promise<{ readonly id: string }> }) {
  return <TicketScreen ticketId={(await params).id} />;
}
