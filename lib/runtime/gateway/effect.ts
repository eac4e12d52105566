import type { LookupAddress } from "node:dns";
import type { CanonicalJson, JsonObject } from "@/lib/protocol/canonical-json";
import type { Sha256 } from "@/lib/protocol/hash";
import type { HostRule } from "./hosts";

/** What is to be done: the call as it was approved. */
export interface Act {
  readonly action: string;
  readonly args: CanonicalJson;
  readonly target: CanonicalJson;
  /** The same for every attempt of one approved call, another for every other call. Source: protocol §6 "Lease". */
  readonly effectKey: string;
}

/** How far the gateway reaches. What is not listed is refused. */
export interface Reach {
  /** Folders beneath which files are created and programs work. */
  readonly writeRoots: readonly string[];
  /** Whom a request may be sent to; none when it is left out. */
  readonly httpHosts?: readonly HostRule[];
  /** The programs that may be run, by their absolute paths; none when it is left out. */
  readonly commands?: readonly string[];
  /** A host's addresses; the system's resolver when it is left out. */
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>;
  /** How long a request or a program may take, in milliseconds; 30,000 when it is left out. */
  readonly limitMs?: number;
}

/** What came of a file. Nothing is overwritten, and whatever stands at the target is told by its hash. */
export type FileEffect =
  | { readonly kind: "executed"; readonly contentHash: Sha256 }
  /** The same content stood there already: an earlier attempt of this very call did it. */
  | { readonly kind: "recovered"; readonly contentHash: Sha256 }
  | { readonly kind: "output_conflict"; readonly expected: string; readonly existingHash: Sha256 }
  | { readonly kind: "output_outside_roots"; readonly expected: string }
  | { readonly kind: "invalid_args"; readonly detail: string };

/** Why nothing was done, or how it went wrong where that is known. */
export type FailureCode =
  | "host_not_allowed"
  | "address_not_allowed"
  | "header_not_allowed"
  | "host_not_found"
  | "unreachable"
  | "redirected"
  | "too_large"
  | "timed_out"
  | "cut"
  | "stopped"
  | "command_not_allowed"
  | "folder_outside_roots"
  | "not_started";

export type Effect =
  | FileEffect
  /** The target system answered, or the program ended by itself: what it said, good or bad. */
  | { readonly kind: "answered"; readonly output: JsonObject }
  | {
      readonly kind: "failed";
      readonly code: FailureCode;
      readonly detail: string;
      /** What is known of it beside, such as what a program had printed when its time was over. */
      readonly facts?: JsonObject;
    }
  /**
   * It was under way and nobody knows how it ended. It may not be reported as a failure: the attempt is left unreported, and the
   * call's class says what follows. `same_key`: the same request may be sent again, since it carries the same effect key.
   * `never`: a person settles it. Source: protocol §6 "Effects".
   */
  | {
      readonly kind: "unknown";
      readonly code: FailureCode;
      readonly detail: string;
      readonly again: "same_key" | "never";
    };
