"use client";

export default function PageError({
  error,
  reset,
}: {
  readonly error: Error & { readonly digest?: string };
  readonly reset: () => void;
}) {
  return (
    <main className="grid min-h-dvh place-items-center px-5" role="alert">
      <div className="max-w-[46ch]">
        <h1 className="text-lead font-semibold">This page could not be drawn</h1>
        <p className="mt-1 text-muted-foreground">
          This says nothing about what is waiting: tickets may be open and their deadlines are running. Nothing was
          decided.
        </p>
        {error.digest && <p className="mono mt-2">incident {error.digest}</p>}
        <button type="button" className="btn mt-4" onClick={reset}>
          Try again
        </button>
      </div>
    </main>
  );
}
