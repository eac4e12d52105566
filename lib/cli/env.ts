import { z } from "zod";

const testEnv = z.object({ HOLDPOINT_TEST_DATABASE_URL: z.string().default("") });

/** Where the tests find their server. Empty: an embedded one in a throw-away folder. */
export function readTestEnv(env: NodeJS.ProcessEnv = process.env): { readonly databaseUrl: string } {
  return { databaseUrl: testEnv.parse(env).HOLDPOINT_TEST_DATABASE_URL };
}
