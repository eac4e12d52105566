import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";

/** What the doors count. Labels are templates and codes: never an id, never a tenant's name. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests = new Counter({
    name: "holdpoint_http_requests_total",
    help: "Answers of the HTTP API, by door and status.",
    labelNames: ["method", "door", "status"],
    registers: [this.registry],
  });
  readonly #refusals = new Counter({
    name: "holdpoint_refusals_total",
    help: "Refusals given by the HTTP API, by code.",
    labelNames: ["code"],
    registers: [this.registry],
  });
  readonly #seconds = new Histogram({
    name: "holdpoint_http_request_seconds",
    help: "Time to an answer of the HTTP API, without long polls and streams.",
    labelNames: ["method", "door"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [this.registry],
  });

  constructor({ ofProcess }: { readonly ofProcess: boolean }) {
    if (ofProcess) collectDefaultMetrics({ register: this.registry });
  }

  answered(method: string, door: string, status: number, seconds: number | null): void {
    this.#requests.inc({ method, door, status: String(status) });
    if (seconds !== null) this.#seconds.observe({ method, door }, seconds);
  }

  refused(code: string): void {
    this.#refusals.inc({ code });
  }
}
