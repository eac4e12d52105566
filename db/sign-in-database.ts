import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { authAccounts, authSessions, authUsers, authVerifications } from "./schema/auth";

/** Sign-in's tables by the names that the sign-in library gives its models. */
export const SIGN_IN_TABLES = {
  user: authUsers,
  session: authSessions,
  account: authAccounts,
  verification: authVerifications,
};

/**
 * A small pool for the sign-in library, which speaks Drizzle and knows no workspace. The app's own pool reads
 * times and names its own way, so that the two cannot share connections.
 */
export function openSignInDatabase(url: string) {
  return drizzle(
    postgres(url, { max: 4, onnotice: () => undefined, connection: { application_name: "holdpoint-sign-in" } }),
  );
}
