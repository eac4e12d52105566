import { headers } from "next/headers";
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { Shell } from "@/components/shell/shell";
import { currentCaller } from "@/lib/server/session";
import { workspaceName } from "@/lib/server/workspace";
import {
  cancelCallAction,
  cancelJobAction,
  cancelRunAction,
  decideAction,
  decideManyAction,
  interruptMailboxAction,
  removeDemoAction,
  replaceTicketAction,
  requeueJobAction,
  settleCallAction,
  signOutAction,
  startRunAction,
  talkAction,
} from "./actions";

/** Every page of the console stands behind this: somebody is signed in, and has a live membership. */
export default async function ConsoleLayout({ children }: { readonly children: ReactNode }) {
  const caller = await currentCaller();
  if (caller?.role == null) redirect(await signInPath());
  return (
    <Shell
      reader={{ person: caller.display, role: caller.role, workspace: await workspaceName(caller) }}
      actions={{
        decide: decideAction,
        decideMany: decideManyAction,
        cancelCall: cancelCallAction,
        cancelRun: cancelRunAction,
        replaceTicket: replaceTicketAction,
        settleCall: settleCallAction,
        startRun: startRunAction,
        talk: talkAction,
        requeueJob: requeueJobAction,
        cancelJob: cancelJobAction,
        interruptMailbox: interruptMailboxAction,
        removeDemo: removeDemoAction,
      }}
      onSignOut={signOutAction}
    >
      {children}
    </Shell>
  );
}

/** Back to the page that was asked for, once signed in. */
async function signInPath(): Promise<string> {
  const path = (await headers()).get("x-holdpoint-path");
  return path === null || path === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(path)}`;
}
