import path from "node:path";
import type { Reach } from "@/lib/runtime/gateway/effect";
import { readHostRules } from "@/lib/runtime/gateway/hosts";
import type { Settings } from "./env";

/**
 * How far the gateway reaches by these settings.
 *
 * @throws Error with one sentence that says which variable is wrong and what it should be.
 */
export function reachOf(settings: Pick<Settings, "writeRoots" | "httpHosts" | "commands">): Reach {
  const hosts = readHostRules(settings.httpHosts);
  if (!hosts.ok) {
    throw new Error(
      `HOLDPOINT_HTTP_HOSTS holds "${hosts.refusal}", which is no host. ` +
        "Write hosts like api.example.com, *.example.com:8443 or http://localhost:8080, parted by commas.",
    );
  }
  const relative = settings.commands.find((command) => !path.isAbsolute(command));
  if (relative !== undefined) {
    throw new Error(
      `HOLDPOINT_COMMANDS holds "${relative}". ` +
        `Write the absolute paths of programs, parted by "${path.delimiter}", for example /usr/bin/git.`,
    );
  }
  return { writeRoots: settings.writeRoots, httpHosts: hosts.value, commands: settings.commands };
}
