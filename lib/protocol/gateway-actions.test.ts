import { describe, expect, test } from "vitest";
import { canExecute, httpMethodOf, isGatewayAction, RECORDED, shapeOf } from "./gateway-actions";

describe("a request's class", () => {
  test.each([{}, { method: null }, { method: "GET" }, { method: "HEAD" }])("%j only reads", (args) => {
    expect(shapeOf("http_request", args)).toEqual({ effectClass: "read_only", target: "url" });
  });

  test.each(["POST", "PUT", "PATCH", "DELETE"])("%s writes, and carries the effect key", (method) => {
    expect(shapeOf("http_request", { method })).toEqual({ effectClass: "idempotency_key", target: "url" });
  });

  test.each([
    { method: "get" },
    { method: "GET " },
    { method: "TRACE" },
    { method: 1 },
    { method: ["GET"] },
    null,
    "GET",
  ])("%j is no method, and never counts as a read", (args) => {
    expect(httpMethodOf(args)).toBeNull();
    expect(shapeOf("http_request", args).effectClass).toBe("idempotency_key");
  });
});

test("a file may not exist, and a program is never run a second time on a guess", () => {
  expect(shapeOf("write_draft", {})).toEqual({ effectClass: "create_new", target: "file" });
  expect(shapeOf("write_file", {})).toEqual({ effectClass: "create_new", target: "file" });
  expect(shapeOf("run_command", {})).toEqual({ effectClass: "none", target: "folder" });
});

test("only our own actions are ours: a name that every object has is none", () => {
  expect(isGatewayAction("http_request")).toBe(true);
  expect(isGatewayAction("toString")).toBe(false);
  expect(isGatewayAction("send_mail")).toBe(false);
});

test("what no worker knows fails after it was allowed, unless it is played back", () => {
  expect(canExecute("http_request", "openai")).toBe(true);
  expect(canExecute("send_mail", null)).toBe(false);
  expect(canExecute("send_mail", RECORDED)).toBe(true);
});
