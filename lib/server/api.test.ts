import { expect, test } from "vitest";
import { routes } from "./api";
import { DOORS } from "./api/doors";
import { METHODS } from "./api/problem";

test("a path asked by another method says by which it is, at every door", async () => {
  for (const door of DOORS) {
    const made = routes(door);
    for (const method of METHODS.filter((it) => it !== door.method)) {
      const response = await made[method](new Request(`http://localhost${door.path}`, { method }));
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe(door.method);
      expect(response.headers.get("content-type")).toContain("application/problem+json");
      expect(await response.json()).toMatchObject({ advice: expect.stringContaining(`Send ${door.method}.`) });
    }
  }
});
