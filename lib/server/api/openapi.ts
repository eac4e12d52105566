import { z } from "zod";
import type { JsonObject, JsonValue } from "@/lib/protocol/canonical-json";
import { REFUSALS, type RefusalCode, refusalRule } from "@/lib/protocol/refusals";
import { problem } from "@/lib/protocol/wire/problem";
import type { Door } from "./door";
import { DOORS } from "./doors";
import { present } from "./problem";

/** The OpenAPI 3.1 document, made from the doors' own schemas: what it says is what the wrapper checks. */
export function openApiDocument(): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const door of DOORS) paths[door.path] = { ...paths[door.path], [door.method.toLowerCase()]: operation(door) };
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdpoint",
      version: "1",
      description: "Where AI agents stop for a person's consent, and the same run goes on once.",
    },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: "http", scheme: "bearer", description: "A key that begins with hp_." } },
      schemas: { Problem: schemaOf(problem, "output") },
      responses: refusalResponses(),
    },
  };
}

function operation(door: Door): JsonObject {
  return present({
    operationId: operationId(door),
    summary: door.summary,
    parameters: [...pathParameters(door), ...queryParameters(door), ...headerParameters(door)],
    requestBody: requestBody(door),
    responses: responses(door),
  });
}

function operationId({ method, path }: Door): string {
  const words = path
    .replace("/api/v1/", "")
    .split(/[/{}_-]+/)
    .filter((word) => word !== "");
  return [method.toLowerCase(), ...words]
    .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("");
}

function pathParameters({ path }: Door): JsonObject[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters({ query }: Door): JsonObject[] {
  return Object.entries(query ?? {}).map(([name, description]) => ({
    name,
    in: "query",
    description,
    schema: { type: "string" },
  }));
}

function headerParameters({ repeats, path }: Door): JsonObject[] {
  if (repeats === "none") return [];
  const isRequired = repeats !== "own";
  if (!isRequired && !path.endsWith("/begin")) return [];
  return [
    {
      name: "Idempotency-Key",
      in: "header",
      required: isRequired,
      description: "1 to 255 visible ASCII characters. Keep it when you send the same request again.",
      schema: { type: "string", minLength: 1, maxLength: 255 },
    },
  ];
}

function requestBody(door: Door): JsonObject | undefined {
  if (door.rawBody !== undefined) {
    return {
      required: true,
      content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
    };
  }
  return door.body && { required: true, content: { "application/json": { schema: schemaOf(door.body, "input") } } };
}

function responses(door: Door): JsonObject {
  const given: Record<string, JsonObject> = {};
  for (const status of door.statuses) {
    const content =
      door.answer && status !== 204 ? { "application/json": { schema: schemaOf(door.answer, "output") } } : undefined;
    given[status] = present({ description: SUCCESS[status], content });
  }
  return { ...given, default: { $ref: "#/components/responses/Refusal" } };
}

const SUCCESS = { 200: "Done, or answered from the record.", 201: "Recorded.", 204: "Done." } as const;

/** One response for all, because every refusal has one form; its description is the table of codes. */
function refusalResponses(): JsonObject {
  const rows = Object.keys(REFUSALS).map((code) => {
    const { status, title, advice } = refusalRule(code as RefusalCode);
    return `- ${status} \`${code}\`: ${title}. ${advice}`;
  });
  return {
    Refusal: {
      description: `A refusal, by its code:\n\n${rows.join("\n")}`,
      content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
    },
  };
}

/** zod knows its own schema's JSON Schema; a custom check is described by what it was given as meta. */
function schemaOf(schema: z.ZodType, io: "input" | "output"): JsonValue {
  const { $schema: _dialect, ...made } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return JSON.parse(JSON.stringify(made)) as JsonValue;
}
