import { readdirSync, readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { VERBS } from "@/lib/protocol/may";
import { REFUSALS } from "@/lib/protocol/refusals";
import { DOORS } from "./doors";
import { openApiDocument } from "./openapi";

const document = openApiDocument() as unknown as {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string; readonly requestBody?: unknown }>>>
  >;
  readonly components: { readonly responses: { readonly Refusal: { readonly description: string } } };
};

describe("the OpenAPI document", () => {
  test("is a valid OpenAPI 3.1 document", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  test("has every door once, under a name of its own", () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation.operationId] as const,
      ),
    );
    expect(operations.map(([name]) => name).sort()).toEqual(DOORS.map((door) => `${door.method} ${door.path}`).sort());
    expect(new Set(operations.map(([, id]) => id)).size).toBe(operations.length);
  });

  test("explains every refusal", () => {
    for (const code of Object.keys(REFUSALS))
      expect(document.components.responses.Refusal.description).toContain(`\`${code}\``);
  });

  test("says what a verdict is", () => {
    const decision = JSON.stringify(document.paths["/api/v1/tickets/{ticket_id}/decision"]?.post?.requestBody);
    expect(decision).toContain('"enum":["allow","deny","answer","continue"]');
    expect(decision).toContain('"additionalProperties":false');
  });
});

/** The document itself, and the answer to every path that is no call. Neither touches a run. */
const NO_DOORS = ["/api/v1/openapi.json", "/api/v1/{...path}"];

describe("the routes", () => {
  const files = readdirSync("app/api/v1", { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith("route.ts"),
  );

  test("are the doors, each at its own path, and nothing else", () => {
    const paths = files.map(
      (file) => `/api/v1/${file.replace("/route.ts", "").replaceAll("[", "{").replaceAll("]", "}")}`,
    );
    expect(paths.sort()).toEqual([...DOORS.map((door) => door.path), ...NO_DOORS].sort());
  });

  test("export what the wrapper made, under every method, and nothing of their own", () => {
    for (const file of files.filter((name) => !name.startsWith("openapi.json") && !name.startsWith("[...path]"))) {
      const source = readFileSync(`app/api/v1/${file}`, "utf8");
      const exports = [...source.matchAll(/^export .*$/gm)].map(([line]) => line.replace(/\w+Door/, "door"));
      expect(exports).toEqual([
        'export const dynamic = "force-dynamic";',
        "export const { DELETE, GET, PATCH, POST, PUT } = routes(door);",
      ]);
    }
  });

  test("ask for rights that the table has", () => {
    for (const door of DOORS) expect(VERBS).toContain(door.verb);
  });
});
