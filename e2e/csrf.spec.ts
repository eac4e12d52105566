import { expect } from "@playwright/test";
import { rawRequest } from "./raw-request";
import { type ServerAction, serverActions } from "./server-actions";
import { test } from "./test";

/** T41: no action runs for a request that does not come from the console's own pages. */
test("every server action refuses every foreign request, and answers its own page", async ({ app }) => {
  const own = { origin: app.origin, host: new URL(app.origin).host };
  const foreign: Record<string, Record<string, string>> = {
    "no Origin": { host: own.host },
    "an opaque Origin": { ...own, origin: "null" },
    "a foreign Origin": { ...own, origin: "https://evil.example" },
    "a sibling subdomain": { ...own, origin: app.origin.replace("//", "//evil.") },
    "a foreign Origin and its X-Forwarded-Host": {
      ...own,
      origin: "https://evil.example",
      "x-forwarded-host": "evil.example",
    },
    "a foreign Origin and its Host": { origin: "https://evil.example", host: "evil.example" },
    "a malformed Origin": { ...own, origin: "localhost" },
    "a cross-site fetch": { ...own, "sec-fetch-site": "cross-site" },
    "a same-site fetch": { ...own, "sec-fetch-site": "same-site" },
  };
  const actions = serverActions();
  expect(actions.length).toBeGreaterThanOrEqual(4);
  const call = ({ id, page }: ServerAction, headers: Record<string, string>) =>
    rawRequest(app.origin, {
      method: "POST",
      path: page,
      headers: {
        ...headers,
        "next-action": id,
        "content-type": "text/plain;charset=UTF-8",
        accept: "text/x-component",
      },
      body: "[{}]",
    });
  let refused = 0;
  for (const action of actions) {
    for (const [what, headers] of Object.entries(foreign)) {
      const answer = await call(action, headers);
      // Either Next turned it away before our code, or our guard answered; a judgement of the input means that it ran.
      const ran = answer.status < 400 && !answer.body.includes('"not_permitted"');
      expect(ran, `${action.name} with ${what}: ${answer.status} ${answer.body.slice(0, 200)}`).toBe(false);
      expect(answer.headers["set-cookie"]).toBeUndefined();
      refused += 1;
    }
    const control = await call(action, own);
    expect(control.body, `${action.name} from its own page`).toMatch(/"(invalid_body|unauthenticated)"|"\$undefined"/);
  }
  expect(refused).toBe(actions.length * Object.keys(foreign).length);
});

test("a form that a foreign page posts runs nothing", async ({ app }) => {
  for (const { id, page } of serverActions()) {
    const answer = await rawRequest(app.origin, {
      method: "POST",
      path: page,
      headers: { host: new URL(app.origin).host, "content-type": "multipart/form-data; boundary=x" },
      body: `--x\r\nContent-Disposition: form-data; name="$ACTION_ID_${id}"\r\n\r\n\r\n--x--\r\n`,
    });
    expect(answer.headers["set-cookie"]).toBeUndefined();
    expect(answer.body).not.toMatch(/"(invalid_body|unauthenticated)"/);
  }
});
