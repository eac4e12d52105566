import { connect } from "@/db/client";
import { makeFirstOwnerToken } from "@/db/store/sign-in";

/**
 * The one-time sign-in link for the first owner, or null when an owner exists.
 *
 * The only way anybody becomes an owner without one: it is printed where the installation was started. A new
 * start makes a new link and cancels the one before.
 */
export async function firstOwnerLink(installation: {
  readonly databaseUrl: string;
  readonly origin: string;
}): Promise<string | null> {
  const db = await connect(installation.databaseUrl, { role: "holdpoint_app", max: 1 });
  try {
    const token = await makeFirstOwnerToken(db);
    return token === null ? null : `${installation.origin}/sign-in#${token}`;
  } finally {
    await db.close();
  }
}
