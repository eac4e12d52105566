"use client";

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { NuqsAdapter } from "nuqs/adapters/next/app";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { ActionsProvider, type ConsoleActions } from "@/components/console/actions";
import { isInField, isOverlayOpen } from "@/components/console/keyboard";
import { LiveProvider } from "@/components/console/live";
import { LiveRegion } from "@/components/console/live-region";
import { isMissing, isSignedOut } from "@/components/console/read";
import type { Reader } from "@/lib/protocol/console-view";
import { KeysDialog } from "./keys-dialog";
import { PAGES } from "./pages";
import { Palette } from "./palette";
import { PaletteProvider } from "./palette-state";
import { ReaderProvider } from "./reader";
import { SideNav, TabBar } from "./side-nav";
import { TabTitle } from "./tab-title";

interface ShellProps {
  readonly reader: Reader;
  readonly actions: ConsoleActions;
  readonly onSignOut: (nothing: null) => Promise<unknown>;
  readonly children: ReactNode;
}

/** What every page of the console stands in: who is looking, what may be asked of the server, and one live stream. */
export function Shell({ reader, actions, onSignOut, children }: ShellProps) {
  const [queries] = useState(newQueryClient);
  const signOut = () => {
    void onSignOut(null).finally(() => window.location.assign("/sign-in"));
  };
  return (
    <NuqsAdapter>
      <QueryClientProvider client={queries}>
        <ReaderProvider reader={reader}>
          <ActionsProvider actions={actions}>
            <LiveRegion>
              <LiveProvider path="/console/stream">
                <PaletteProvider>
                  <a className="skip-link" href="#main">
                    Skip to content
                  </a>
                  <div className="shell">
                    <SideNav onSignOut={signOut} />
                    <main id="main" className="flex min-w-0 flex-col" tabIndex={-1}>
                      {children}
                    </main>
                    <TabBar onSignOut={signOut} />
                  </div>
                  <Palette />
                  <KeysDialog />
                  <GoKeys />
                  <TabTitle />
                </PaletteProvider>
              </LiveProvider>
            </LiveRegion>
          </ActionsProvider>
        </ReaderProvider>
      </QueryClientProvider>
    </NuqsAdapter>
  );
}

/** Rows are read again when the stream says so, never because a window came to the front. */
function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) => !isSignedOut(error) && !isMissing(error) && failures < 2,
        retryDelay: 400,
      },
    },
  });
}

/** G, then the page's letter, within a second. */
function GoKeys() {
  const router = useRouter();
  // Not 0: the page's clock begins there, and its first second would count as if G had been pressed.
  const armedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.repeat || event.metaKey || event.ctrlKey || event.altKey || isInField(event.target) || isOverlayOpen())
        return;
      const key = event.key.toLowerCase();
      if (key === "g") {
        armedAt.current = event.timeStamp;
        return;
      }
      // When the keys were pressed, not when a busy page came to hear of them.
      const page = event.timeStamp - armedAt.current < 1_000 ? PAGES.find((it) => it.key === key) : undefined;
      armedAt.current = Number.NEGATIVE_INFINITY;
      if (page === undefined) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      router.push(page.href);
    };
    // Before the page's own keys: G R must not also write a reason.
    window.addEventListener("keydown", press, { capture: true });
    return () => window.removeEventListener("keydown", press, { capture: true });
  }, [router]);
  return null;
}
