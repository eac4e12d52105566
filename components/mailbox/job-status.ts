import { Ban, CircleArrowDown, Hourglass, MailX, Replace, Timer } from "lucide-react";
import type { StatusLook } from "@/components/console/status-table";
import type { JobStatus } from "@/lib/protocol/mailbox-job";

/** `Accepted` says delivered, which is not that the run succeeded: it is never shown as success. Source: protocol §10. */
export const JOB_LOOKS: Readonly<Record<JobStatus, StatusLook>> = {
  Queued: { word: "Queued", icon: Hourglass, tone: "wait" },
  Claimed: { word: "Claimed", icon: Timer, tone: "live" },
  Accepted: { word: "Delivered", icon: CircleArrowDown, tone: "off" },
  DeadLetter: { word: "Dead letter", icon: MailX, tone: "bad" },
  Cancelled: { word: "Cancelled", icon: Ban, tone: "off" },
  Superseded: { word: "Superseded", icon: Replace, tone: "odd" },
};
