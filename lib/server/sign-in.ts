import "server-only";
import { APIError } from "better-auth/api";
import { headers } from "next/headers";
import {
  type Claimed,
  claimFirstOwner,
  claimSignInLink,
  endOtherSessions,
  linkSignedIn,
  readSignInLink,
} from "@/db/store/sign-in";
import type { ShownRefusal } from "@/lib/protocol/console-view";
import { ok, type Result, refuse } from "@/lib/result";
import { Attempts } from "./attempts";
import { signInLibrary } from "./auth";
import { database } from "./database";
import { log } from "./log";
import { currentSession } from "./session";

const MINUTE = 60_000;
const passwords = new Attempts({ perName: 10, together: 120, windowMs: 15 * MINUTE });
/** A token cannot be guessed; this only bounds what guessing costs us. */
const links = new Attempts({ perName: 60, together: 60, windowMs: MINUTE });

const WRONG_PASSWORD: ShownRefusal = {
  code: "wrong_sign_in",
  title: "E-mail or password is wrong",
  advice: "Try again, or ask an owner for a one-time link.",
  facts: {},
};

const DEAD_LINK: ShownRefusal = {
  code: "dead_link",
  title: "This link cannot be used",
  advice: "It was used, replaced, or is older than 24 hours. Ask for a new one where you got it.",
  facts: {},
};

type Answer<Value extends object = object> = Promise<Result<Value, ShownRefusal>>;

/** Sign in by e-mail and password. What is wrong is not told: it would tell who has an account. */
export async function signInByPassword(request: { readonly email: string; readonly password: string }): Answer {
  const name = request.email.toLowerCase();
  const wait = passwords.take(name, Date.now());
  if (wait !== null) return refuse(slowDown(wait));
  try {
    await endCurrentSession();
    await signInLibrary().api.signInEmail({ body: request, headers: await headers() });
  } catch (cause) {
    if (cause instanceof APIError && cause.statusCode < 500) return refuse(WRONG_PASSWORD);
    throw cause;
  }
  passwords.clear(name);
  return ok({});
}

/** Press the link's button: a person's link signs them in; the first owner's is still only looked at. */
export async function openLink({
  token,
}: {
  readonly token: string;
}): Answer<{ next: "set_password" | "say_who_you_are" }> {
  const wait = links.take("link", Date.now());
  if (wait !== null) return refuse(slowDown(wait));
  const db = await database();
  if ((await readSignInLink(db, token)) === "first_owner") return ok({ next: "say_who_you_are" });
  const claimed = await claimSignInLink(db, token);
  if (claimed === null) return refuse(DEAD_LINK);
  await startSession(claimed);
  return ok({ next: "set_password" });
}

/** The first owner says who they are, and is it from now on. */
export async function becomeOwner(request: {
  readonly token: string;
  readonly email: string;
  readonly name: string;
  readonly password: string;
}): Answer {
  const wait = links.take("link", Date.now());
  if (wait !== null) return refuse(slowDown(wait));
  const claimed = await claimFirstOwner(await database(), request.token, request);
  if (claimed === null) return refuse(DEAD_LINK);
  const { headers: cookies } = await startSession(claimed);
  await signInLibrary().api.writePassword({ body: { password: request.password }, headers: cookies });
  return ok({});
}

/** Set the password of whoever this very link signed in, and end their other sessions. */
export async function setPassword(request: { readonly token: string; readonly password: string }): Answer {
  const signedIn = await currentSession();
  const db = await database();
  if (signedIn === null || !(await linkSignedIn(db, request.token, signedIn.authUser))) return refuse(DEAD_LINK);
  await signInLibrary().api.writePassword({ body: { password: request.password }, headers: await headers() });
  await endOtherSessions(db, signedIn.authUser, signedIn.session);
  return ok({});
}

/** End this session, now and everywhere: its row is gone. */
export async function signOut(): Promise<void> {
  await signInLibrary().api.signOut({ headers: await headers() });
}

/** A new session for a recognised user; answers the headers of a request that carries it. */
async function startSession({ authUser, person }: Claimed): Promise<{ headers: Headers }> {
  await endCurrentSession();
  const answer = await signInLibrary().api.startSession({
    body: { userId: authUser },
    headers: await headers(),
    returnHeaders: true,
  });
  log.info({ person }, "signed in by a one-time link");
  const cookie = answer.headers.getSetCookie().map((line) => line.split(";")[0]);
  return { headers: new Headers({ cookie: cookie.join("; ") }) };
}

/** Whoever signs in here again leaves no old session behind. */
async function endCurrentSession(): Promise<void> {
  if ((await currentSession()) !== null) await signOut();
}

function slowDown(waitMs: number): ShownRefusal {
  const minutes = Math.max(1, Math.ceil(waitMs / MINUTE));
  return {
    code: "slow_down",
    title: "Too many attempts",
    advice: `Wait ${minutes} ${minutes === 1 ? "minute" : "minutes"}, then try again.`,
    facts: { retry_after_ms: waitMs },
  };
}
