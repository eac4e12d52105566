import type { Metadata } from "next";
import { pathWord } from "@/app/path-word";
import { ThreadScreen } from "@/components/threads/thread-screen";
import { drawnAsText } from "@/lib/protocol/hidden-characters";

interface ThreadPageProps {
  readonly params: Promise<{ readonly id: string }>;
}

export async function generateMetadata({ params }: ThreadPageProps): Promise<Metadata> {
  return { title: `Thread ${drawnAsText(pathWord((await params).id))}` };
}

export default async function ThreadPage({ params }: ThreadPageProps) {
  return <ThreadScreen threadId={pathWord((await params).id)} />;
}
