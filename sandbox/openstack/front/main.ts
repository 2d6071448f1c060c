/**
 * The process between clients and the cloud's services, so that tests can make an API fail. Argument: the cloud's folder.
 */
import { publicAddress, readSettings } from "../settings";
import { Front } from "./front";

async function main(): Promise<void> {
  const folder = process.argv[2] ?? "";
  const settings = await readSettings(folder);
  if (settings === undefined) throw new Error(`there is no cloud in ${folder}`);
  const front = new Front(settings.ports, settings.passwords.control, publicAddress(settings));
  process.once("SIGTERM", () => front.close());
  await front.listen();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
