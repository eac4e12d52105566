import { notFound } from "next/navigation";

/** A part of the path as it was meant. One that cannot be read names nothing. */
export function pathWord(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    notFound();
  }
}
