import type { Metadata } from "next";
import { RunScreen } from "@/components/runs/run-screen";
import { drawnAsText } from "@/lib/protocol/hidden-characters";

interface RunPageProps {
  readonly params: Promise<{ readonly id: string }>;
}

export async function generateMetadata({ params }: RunPageProps): Promise<Metadata> {
  return { title: drawnAsText(decodeURIComponent((await params).id)) };
}

export default async function RunPage({ params }: RunPageProps) {
  return <RunScreen runId={decodeURIComponent((await params).id)} />;
}
