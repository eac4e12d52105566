import "server-only";
import { type BetterAuthOptions, betterAuth } from "better-auth";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { nextCookies } from "better-auth/next-js";
import { openSignInDatabase, SIGN_IN_TABLES } from "@/db/sign-in-database";
import { PASSWORD_LENGTH } from "@/lib/protocol/sign-in";
import { serverSettings } from "./env";
import { withHashedSessionTokens } from "./hashed-session-tokens";
import { signInPlugin } from "./sign-in-plugin";

const SESSION_SECONDS = 7 * 24 * 60 * 60;

/**
 * The sign-in library, behind our own doors: its HTTP handler is not mounted, so that nothing but our guarded
 * server actions can sign in, and nobody can sign up.
 */
function make() {
  const { databaseUrl, origin, authSecret } = serverSettings();
  const secure = origin.startsWith("https:");
  return betterAuth({
    secret: authSecret,
    baseURL: origin,
    trustedOrigins: [origin],
    telemetry: { enabled: false },
    logger: { level: "error" },
    database: withHashedSessionTokens(
      drizzleAdapter(openSignInDatabase(databaseUrl), { provider: "pg", schema: SIGN_IN_TABLES }),
    ),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH.least,
      maxPasswordLength: PASSWORD_LENGTH.most,
    },
    user: { additionalFields: { personId: { type: "string", required: false, input: false } } },
    // No copy of a session in a cookie: a session that was ended is over at its next request.
    session: { expiresIn: SESSION_SECONDS, disableSessionRefresh: true, cookieCache: { enabled: false } },
    advanced: {
      // `__Host-` needs Secure, and Secure needs https: over http://localhost the plain name is all there is.
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", path: "/", secure },
      cookies: {
        session_token: { name: secure ? "__Host-holdpoint.session" : "holdpoint.session" },
        dont_remember: { name: secure ? "__Host-holdpoint.brief" : "holdpoint.brief" },
      },
    },
    plugins: [signInPlugin(), nextCookies()],
  } satisfies BetterAuthOptions);
}

let made: ReturnType<typeof make> | null = null;

/** Made on first use: a build has no database and no secret. */
export function signInLibrary(): ReturnType<typeof make> {
  made ??= make();
  return made;
}
