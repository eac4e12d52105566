import type { Door } from "./door";
import { publishSnapshotDoor } from "./doors/agents";
import { bundleDoor } from "./doors/bundle";
import { askDoor, proposeDoor, waitDoor } from "./doors/calls";
import { beginDoor, completeDoor, renewDoor, settleDoor, withdrawDoor } from "./doors/execution";
import { cancelJobDoor, interruptDoor, listJobsDoor, requeueJobDoor } from "./doors/jobs";
import { resumeDoor } from "./doors/resume";
import {
  cancelRunDoor,
  finishDoor,
  openRunDoor,
  pauseDoor,
  readRunDoor,
  resumeFailedDoor,
  talkDoor,
} from "./doors/runs";
import { putStateDoor, readStateDoor } from "./doors/states";
import { cancelTicketDoor, decisionDoor, listTicketsDoor, readTicketDoor, replaceDoor } from "./doors/tickets";
import { traceDoor } from "./doors/trace";
import { ackDoor, claimDoor, claimInMailboxDoor, deferDoor, enqueueDoor, extendDoor, nackDoor } from "./doors/work";

/** Every call of the API. The OpenAPI document, the routes and the test of every door as every caller are made from this list. */
export const DOORS: readonly Door[] = [
  publishSnapshotDoor,
  openRunDoor,
  readRunDoor,
  proposeDoor,
  askDoor,
  waitDoor,
  beginDoor,
  renewDoor,
  completeDoor,
  withdrawDoor,
  settleDoor,
  pauseDoor,
  resumeDoor,
  resumeFailedDoor,
  putStateDoor,
  readStateDoor,
  talkDoor,
  finishDoor,
  cancelRunDoor,
  traceDoor,
  bundleDoor,
  listTicketsDoor,
  readTicketDoor,
  decisionDoor,
  replaceDoor,
  cancelTicketDoor,
  enqueueDoor,
  claimDoor,
  claimInMailboxDoor,
  ackDoor,
  nackDoor,
  deferDoor,
  extendDoor,
  listJobsDoor,
  cancelJobDoor,
  requeueJobDoor,
  interruptDoor,
];
