import "server-only";
import { APIError, createAuthEndpoint, sessionMiddleware } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { z } from "zod";

/**
 * What the sign-in library lacks for one-time links: a session for a user whom we have recognised ourselves,
 * and a password for whoever a link signed in. Neither has an HTTP path: only our own code can call them.
 */
export function signInPlugin() {
  return {
    id: "holdpoint-sign-in",
    endpoints: {
      startSession: createAuthEndpoint.serverOnly(
        { method: "POST", body: z.object({ userId: z.string() }) },
        async (context) => {
          const { internalAdapter } = context.context;
          const user = await internalAdapter.findUserById(context.body.userId);
          if (!user) throw new APIError("UNAUTHORIZED");
          // Always a new one: a token that was there before sign-in must not become a session.
          const session = await internalAdapter.createSession(user.id);
          await setSessionCookie(context, { session, user });
          return context.json({ session: session.id });
        },
      ),
      writePassword: createAuthEndpoint.serverOnly(
        { method: "POST", body: z.object({ password: z.string() }), use: [sessionMiddleware] },
        async (context) => {
          const { internalAdapter, password, session } = context.context;
          if (!session) throw new APIError("UNAUTHORIZED");
          const hash = await password.hash(context.body.password);
          const userId = session.user.id;
          const account = await internalAdapter.findCredentialAccount(userId);
          if (account) await internalAdapter.updateAccount(account.id, { password: hash });
          else
            await internalAdapter.linkAccount({ userId, providerId: "credential", accountId: userId, password: hash });
          return context.json({ written: true });
        },
      ),
    },
  };
}
