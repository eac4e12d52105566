import Link from "next/link";

export default function NotFound() {
  return (
    <main className="grid min-h-dvh place-items-center px-5">
      <div className="max-w-[46ch]">
        <h1 className="text-lead font-semibold">There is no such page</h1>
        <p className="mt-1 text-muted-foreground">
          Nothing was changed by coming here. Links in Holdpoint only open pages.
        </p>
        <Link className="btn mt-4" href="/inbox">
          Open the inbox
        </Link>
      </div>
    </main>
  );
}
