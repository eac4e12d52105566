/**
 * The one-time sign-in link for the first owner, or null when an owner exists.
 *
 * The only way anybody becomes an owner without one: it is printed where the installation was started.
 */
export function firstOwnerLink(_installation: {
  readonly databaseUrl: string;
  readonly origin: string;
}): Promise<string | null> {
  return Promise.resolve(null);
}
