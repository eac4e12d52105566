import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { type ChildProgram, childProgram } from "@/db/testing/child-program";

const NO_DATABASE = 75;

/**
 * A worker whose agents have a model of their own: it asks for a request and then for a program, both by the name of the run's first
 * message, and is done.
 */
const PROGRAM = `
  import { readHostRules } from "@/lib/runtime/gateway/hosts";
  import { answersIn, calls, says } from "@/lib/runtime/model/scripted";
  import { runWorker } from "@/lib/runtime/worker";
  const [databaseUrl, hosts, folder, leaseMs] = process.argv.slice(2);
  const asks = (name, args) => calls({ callId: "c", name, argumentsText: JSON.stringify(args) });
  const soak = (request) => {
    const { text } = request.messages.find(({ role }) => role === "user");
    switch (answersIn(request)) {
      case 0:
        return asks("http_request", { url: hosts + "/" + text, method: "POST", body: text });
      case 1:
        return asks("run_command", { folder, argv: ["/bin/sh", "-c", "echo done >> " + text + "; sleep 0.2"] });
      default:
        return says("Done.");
    }
  };
  const working = runWorker({
    databaseUrl,
    writeRoots: [folder],
    httpHosts: readHostRules(hosts).value,
    commands: ["/bin/sh"],
    concurrency: 2,
    leaseMs: Number(leaseMs),
    models: { settings: { baseUrl: null, apiKey: null, timeoutMs: 10_000 }, scripts: { soak }, recording: null },
    stop: new AbortController().signal,
  });
  // It gives up where it finds no database when it starts, and only there.
  await working.catch(() => process.exit(${NO_DATABASE}));
`;

/** Workers that are killed without warning, each replaced at once. */
export class MortalWorkers {
  private readonly alive = new Set<ChildProcess>();
  private over = false;
  /** Processes that ended without having been killed. */
  readonly fallen: string[] = [];

  private constructor(
    private readonly program: ChildProgram,
    private readonly args: readonly string[],
  ) {}

  static async start(many: number, ...args: readonly string[]): Promise<MortalWorkers> {
    const workers = new MortalWorkers(await childProgram(PROGRAM), args);
    for (let at = 0; at < many; at += 1) workers.hire();
    return workers;
  }

  /** One of them, by chance, of those that are known to have come so far. */
  pick(names: readonly string[]): { readonly child: ChildProcess; readonly name: string } | null {
    const byPid = new Map([...this.alive].map((child) => [String(child.pid), child]));
    const known = names.flatMap((name) => {
      const child = byPid.get(name.split(":")[1] ?? "");
      return child ? [{ child, name }] : [];
    });
    return known[Math.floor(Math.random() * known.length)] ?? null;
  }

  async remove(): Promise<void> {
    this.over = true;
    const gone = [...this.alive].map((child) => once(child, "exit"));
    for (const child of this.alive) child.kill("SIGKILL");
    await Promise.all(gone);
    this.program.remove();
  }

  private hire(): void {
    const child = this.program.start(...this.args);
    this.alive.add(child);
    child.once("exit", (code, signal) => {
      this.alive.delete(child);
      if (signal !== "SIGKILL" && code !== NO_DATABASE) this.fallen.push(String(code ?? signal));
      if (!this.over) this.hire();
    });
  }
}
