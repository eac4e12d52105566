import path from "node:path";
import { describe, expect, it } from "vitest";
import { childEnvironment, readSettings, withoutModelKey } from "./env";

const env = (values: Record<string, string>): NodeJS.ProcessEnv => ({ NODE_ENV: "test", ...values });

describe("the settings", () => {
  it("nothing set: port 3000 on this machine alone, the embedded database in the clone", () => {
    expect(readSettings("/clone", env({}))).toMatchObject({
      port: 3000,
      host: "127.0.0.1",
      origin: "http://localhost:3000",
      databaseUrl: null,
      dataDir: path.resolve("/clone/.data"),
      demo: null,
    });
  });

  it("a variable that is set to nothing counts as unset", () => {
    expect(readSettings("/clone", env({ PORT: "", DATABASE_URL: "", HOLDPOINT_ORIGIN: "" }))).toMatchObject({
      port: 3000,
      databaseUrl: null,
    });
  });

  it("the origin follows the port unless it is given", () => {
    expect(readSettings("/c", env({ PORT: "4000" })).origin).toBe("http://localhost:4000");
    expect(readSettings("/c", env({ HOLDPOINT_ORIGIN: "https://hold.example" })).origin).toBe("https://hold.example");
  });

  it.each([
    ["PORT", "http", /PORT must be a number/],
    ["PORT", "0", /PORT must be between 1 and 65535/],
    ["PORT", "99999", /PORT must be between/],
    ["DATABASE_URL", "mysql://x", /DATABASE_URL must look like postgres:\/\//],
    ["DATABASE_URL", "localhost/holdpoint", /Unset it to use the embedded PostgreSQL/],
    ["HOLDPOINT_ORIGIN", "https://hold.example/", /public origin without a path/],
    ["HOLDPOINT_ORIGIN", "hold.example", /for example https:/],
    ["HOLDPOINT_DEMO", "yes", /HOLDPOINT_DEMO must be 1/],
    ["HOLDPOINT_MODEL_BASE_URL", "api.openai.com", /for example https:\/\/api.openai.com\/v1/],
    ["HOLDPOINT_MODEL_BASE_URL", "https://key@api.example.com", /HOLDPOINT_MODEL_BASE_URL must be/],
    ["HOLDPOINT_MODEL_TIMEOUT_MS", "2 minutes", /HOLDPOINT_MODEL_TIMEOUT_MS must be between/],
    ["HOLDPOINT_MODEL_TIMEOUT_MS", "0", /HOLDPOINT_MODEL_TIMEOUT_MS must be between/],
    ["DATABASE_MIGRATE_URL", "postgres://a@b/c", /without DATABASE_URL/],
  ])("%s=%s is refused by a sentence that says what to do", (name, value, sentence) => {
    expect(() => readSettings("/clone", env({ [name]: value }))).toThrow(sentence);
  });

  it("a model is told by its address and key, or there is none", () => {
    expect(readSettings("/c", env({})).model).toEqual({ baseUrl: null, apiKey: null, timeoutMs: 120_000 });
    const told = {
      HOLDPOINT_MODEL_BASE_URL: "http://localhost:11434/v1",
      HOLDPOINT_MODEL_API_KEY: "k",
      HOLDPOINT_MODEL_TIMEOUT_MS: "5000",
    };
    expect(readSettings("/c", env(told)).model).toEqual({
      baseUrl: "http://localhost:11434/v1",
      apiKey: "k",
      timeoutMs: 5_000,
    });
  });

  it("all that is wrong is said at once", () => {
    expect(() => readSettings("/c", env({ PORT: "x", HOLDPOINT_DEMO: "x" }))).toThrow(/PORT[\s\S]*HOLDPOINT_DEMO/);
  });
});

describe("a child's environment", () => {
  it("holds the model's key only where it is wanted", () => {
    const ours = env({ HOLDPOINT_MODEL_API_KEY: "key" });
    expect(childEnvironment({}, ours)).toMatchObject({ HOLDPOINT_MODEL_API_KEY: "key" });
    expect(Object.keys(withoutModelKey(childEnvironment({}, ours)))).not.toContain("HOLDPOINT_MODEL_API_KEY");
  });

  it("never holds the owner's database address", () => {
    const child = childEnvironment({ DATABASE_URL: "app" }, env({ DATABASE_URL: "x", DATABASE_MIGRATE_URL: "owner" }));
    expect(child).toMatchObject({ DATABASE_URL: "app" });
    expect(Object.keys(child)).not.toContain("DATABASE_MIGRATE_URL");
  });
});
