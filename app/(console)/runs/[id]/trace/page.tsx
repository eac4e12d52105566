import type { Metadata } from "next";
import { TraceScreen } from "@/components/trace/trace-screen";
import { drawnAsText } from "@/lib/protocol/hidden-characters";

interface TracePageProps {
  readonly params: Promise<{ readonly id: string }>;
}

export async function generateMetadata({ params }: TracePageProps): Promise<Metadata> {
  return { title: `Trace of ${drawnAsText(decodeURIComponent((await params).id))}` };
}

export default async function TracePage({ params }: TracePageProps) {
  return <TraceScreen runId={decodeURIComponent((await params).id)} />;
}
