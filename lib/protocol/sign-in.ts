import type { ShownRefusal } from "./console-view";

/** What the sign-in page and the server say to each other. Pure types: the page holds the token, the server the rest. */

export const PASSWORD_LENGTH = { least: 12, most: 128 } as const;

/** Done, or why not. */
export type SignInAnswer = { readonly ok: true } | { readonly ok: false; readonly refusal: ShownRefusal };

/** Opening a link signs its person in; the first owner's link asks who they are first. */
export type OpenLinkAnswer =
  | { readonly ok: true; readonly next: "set_password" | "say_who_you_are" }
  | { readonly ok: false; readonly refusal: ShownRefusal };

export interface SignInActions {
  readonly signIn: (request: { readonly email: string; readonly password: string }) => Promise<SignInAnswer>;
  readonly openLink: (request: { readonly token: string }) => Promise<OpenLinkAnswer>;
  readonly becomeOwner: (request: {
    readonly token: string;
    readonly email: string;
    readonly name: string;
    readonly password: string;
  }) => Promise<SignInAnswer>;
  readonly setPassword: (request: { readonly token: string; readonly password: string }) => Promise<SignInAnswer>;
}
