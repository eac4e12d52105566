import type { Metadata } from "next";
import { pathWord } from "@/app/path-word";
import { TraceScreen } from "@/components/trace/trace-screen";
import { drawnAsText } from "@/lib/protocol/hidden-characters";

interface TracePageProps {
  readonly params: Promise<{ readonly id: string }>;
}

export async function generateMetadata({ params }: TracePageProps): Promise<Metadata> {
  return { title: `Trace of ${drawnAsText(pathWord((await params).id))}` };
}

export default async function TracePage({ params }: TracePageProps) {
  return <TraceScreen runId={pathWord((await params).id)} />;
}
