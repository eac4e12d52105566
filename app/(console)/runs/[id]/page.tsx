import type { Metadata } from "next";
import { RunScreen } from "@/components/runs/run-screen";

interface RunPageProps {
  readonly params: Promise<{ readonly id: string }>;
}

export async function generateMetadata({ params }: RunPageProps): Promise<Metadata> {
  return { title: decodeURIComponent((await params).id) };
}

export default async function RunPage({ params }: RunPageProps) {
  return <RunScreen runId={decodeURIComponent((await params).id)} />;
}
