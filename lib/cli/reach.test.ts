import { expect, it } from "vitest";
import { readSettings } from "./env";
import { reachOf } from "./reach";

const reach = (values: Record<string, string>) => reachOf(readSettings("/clone", { NODE_ENV: "test", ...values }));

it("the gateway calls nobody and runs nothing unless it is told to", () => {
  expect(reach({})).toMatchObject({ httpHosts: [], commands: [] });
});

it("it reaches the hosts and the programs that are listed", () => {
  const told = reach({
    HOLDPOINT_HTTP_HOSTS: "api.example.com, http://localhost:81",
    HOLDPOINT_COMMANDS: "/usr/bin/git:/bin/ls",
  });
  expect(told).toMatchObject({
    httpHosts: [{ host: "api.example.com" }, { host: "localhost", port: 81 }],
    commands: ["/usr/bin/git", "/bin/ls"],
  });
});

it.each([
  ["HOLDPOINT_HTTP_HOSTS", "api.example.com, ftp://x", /holds "ftp:\/\/x", which is no host/],
  ["HOLDPOINT_COMMANDS", "/bin/ls:git", /HOLDPOINT_COMMANDS holds "git"/],
])("%s=%s is refused by a sentence that says what to do", (name, value, sentence) => {
  expect(() => reach({ [name]: value })).toThrow(sentence);
});
