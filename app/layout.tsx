import { GeistMono } from "geist/font/mono";
import { GeistSans } from "geist/font/sans";
import type { Metadata, Viewport } from "next";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { Theme } from "@/components/shell/theme";
import "./globals.css";

export const metadata: Metadata = {
  title: { default: "Holdpoint", template: "%s · Holdpoint" },
  description: "Where AI agents stop for a person’s consent.",
  robots: { index: false, follow: false },
};

export const viewport: Viewport = {
  width: "device-width",
  initialScale: 1,
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#fbfbfc" },
    { media: "(prefers-color-scheme: dark)", color: "#0c0d0f" },
  ],
};

/** Every answer has a fresh nonce, so no page is made ahead of its request. */
export const dynamic = "force-dynamic";

export default async function RootLayout({ children }: { readonly children: ReactNode }) {
  const nonce = nonceOf((await headers()).get("content-security-policy"));
  return (
    // The theme's class is set before the first paint, by a script: the server cannot know it.
    <html lang="en" className={`${GeistSans.variable} ${GeistMono.variable}`} suppressHydrationWarning>
      <body>
        <Theme nonce={nonce}>{children}</Theme>
      </body>
    </html>
  );
}

function nonceOf(policy: string | null): string {
  return /'nonce-([^']+)'/.exec(policy ?? "")?.[1] ?? "";
}
