import type { Metadata } from "next";
import { RefusalsScreen } from "@/components/refusals/refusals-screen";

export const metadata: Metadata = { title: "Refusals" };

export default function RefusalsPage() {
  return <RefusalsScreen />;
}
