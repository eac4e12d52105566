import { forgetFolder, startApp } from "./server";
import { forgetSharedApp, rememberSharedApp } from "./shared-app";

/** One app for all specs that do not start their own. */
export default async function setup(): Promise<() => Promise<void>> {
  const app = await startApp();
  rememberSharedApp({ origin: app.origin, ownerLink: app.ownerLink, dataDir: app.dataDir });
  return async () => {
    await app.stop();
    forgetSharedApp();
    forgetFolder(app.dataDir);
  };
}
