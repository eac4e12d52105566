import type { Metadata } from "next";
import { pathWord } from "@/app/path-word";
import { RunScreen } from "@/components/runs/run-screen";
import { drawnAsText } from "@/lib/protocol/hidden-characters";

interface RunPageProps {
  readonly params: Promise<{ readonly id: string }>;
}

export async function generateMetadata({ params }: RunPageProps): Promise<Metadata> {
  return { title: drawnAsText(pathWord((await params).id)) };
}

export default async function RunPage({ params }: RunPageProps) {
  return <RunScreen runId={pathWord((await params).id)} />;
}
