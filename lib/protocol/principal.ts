/** Who acts. Keys belong to a principal and may change; a run belongs to the principal that opened it. Source: protocol §1. */
export const PRINCIPAL_KINDS = ["person", "agent", "operator", "worker", "system", "cli"] as const;
export type PrincipalKind = (typeof PRINCIPAL_KINDS)[number];

/** A person's role in a workspace. Source: http-api "Who may call what". */
export const ROLES = ["approver", "operator", "owner"] as const;
export type Role = (typeof ROLES)[number];

/** Where an attempt came in; kept with every decision and refusal. */
export const SURFACES = ["console", "api", "cli", "worker", "system"] as const;
export type Surface = (typeof SURFACES)[number];

/**
 * Who calls a verb, as judged at the door and read anew at every call.
 * `role` is set exactly when `kind` is `person`. `display` is what others may see: a name, never an e-mail.
 */
export interface Caller {
  readonly workspace: string;
  readonly principal: string;
  readonly kind: PrincipalKind;
  readonly role: Role | null;
  readonly person: string | null;
  readonly display: string;
  readonly surface: Surface;
  /** The key or auth session used; kept with votes, never shown. */
  readonly credential: string | null;
}
