"use server";

import { z } from "zod";
import { PASSWORD_LENGTH } from "@/lib/protocol/sign-in";
import { openAction } from "@/lib/server/action";
import { becomeOwner, openLink, setPassword, signInByPassword } from "@/lib/server/sign-in";

/** Of any form: a link that was cut on its way is told what any link is that no longer works. */
const token = z.string().min(1).max(200);
const email = z.email().max(254);
const newPassword = z.string().min(PASSWORD_LENGTH.least).max(PASSWORD_LENGTH.most);

export const signInAction = openAction(
  { name: "sign_in", input: z.strictObject({ email, password: z.string().min(1).max(PASSWORD_LENGTH.most) }) },
  signInByPassword,
);

export const openLinkAction = openAction({ name: "open_link", input: z.strictObject({ token }) }, openLink);

export const becomeOwnerAction = openAction(
  {
    name: "become_owner",
    input: z.strictObject({ token, email, name: z.string().trim().min(1).max(100), password: newPassword }),
  },
  becomeOwner,
);

export const setPasswordAction = openAction(
  { name: "set_password", input: z.strictObject({ token, password: newPassword }) },
  setPassword,
);
