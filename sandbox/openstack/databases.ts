import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import path from "node:path";
import { runCommand } from "../toolchain/run-command";
import { database, internalUrl, NO_BROKER, publicUrl, REGION, type Configured } from "./configuration/common";
import { CONFIGURATIONS } from "./configuration/services";
import { pythonSources } from "./paths";
import { pythonEnvironment } from "./service-processes";
import type { ServiceName } from "./settings";

const MINUTES = 5;

/**
 * Creates the databases, keys and the administrator of a new cloud, unless they are complete. Recreates what a killed
 * run left incomplete.
 * @throws CommandFailed with the last output lines of the program that failed
 */
export async function ensureDatabases(
  configured: Configured,
  update: (detail: string) => void,
): Promise<void> {
  const { paths, settings, environment } = configured;
  const whole = path.join(paths.databases, "whole");
  if (existsSync(whole)) return;
  await rm(paths.databases, { recursive: true, force: true });
  await mkdir(paths.databases, { recursive: true, mode: 0o700 });
  const bin = path.join(environment, "bin");
  const env = pythonEnvironment(paths, settings);
  const manage = (service: ServiceName, program: string, ...args: string[]) => {
    const file = path.join(paths.configuration, CONFIGURATIONS[service].file);
    return runCommand(path.join(bin, program), ["--config-file", file, ...args], {
      minutes: MINUTES,
      env: {
        ...env,
        OS_PLACEMENT_CONFIG_DIR: paths.configuration,
        OS_BOOTSTRAP_PASSWORD: settings.passwords.administrator,
      },
    });
  };
  const python = (script: string, ...args: string[]) =>
    runCommand(path.join(bin, "python"), [path.join(pythonSources, script), ...args], {
      minutes: MINUTES,
      env,
    });
  const { uid, gid } = userInfo();
  const owner = ["--keystone-user", String(uid), "--keystone-group", String(gid)];
  const keystone = async () => {
    await manage("keystone", "keystone-manage", "db_sync");
    await manage("keystone", "keystone-manage", "fernet_setup", ...owner);
    await manage("keystone", "keystone-manage", "credential_setup", ...owner);
    // the password is passed in the environment
    await manage(
      "keystone",
      "keystone-manage",
      "bootstrap",
      ...["--bootstrap-admin-url", `${internalUrl(settings, "keystone")}/v3`],
      ...["--bootstrap-internal-url", `${internalUrl(settings, "keystone")}/v3`],
      ...["--bootstrap-public-url", `${publicUrl(settings, "keystone")}/v3`],
      ...["--bootstrap-region-id", REGION],
    );
    await manage("placement", "placement-manage", "db", "sync");
    await manage("glance", "glance-manage", "db_sync");
  };
  const nova = async () => {
    await manage("nova", "nova-manage", "api_db", "sync");
    await manage(
      "nova",
      "nova-manage",
      "cell_v2",
      "map_cell0",
      "--database_connection",
      database(configured, "nova_cell0"),
    );
    await manage("nova", "nova-manage", "db", "sync");
    await manage(
      "nova",
      "nova-manage",
      ...["cell_v2", "create_cell", "--name", "cell1"],
      ...["--database_connection", database(configured, "nova"), "--transport-url", NO_BROKER],
    );
    await python("neutron_tables.py", database(configured, "neutron"));
  };
  const cinder = async () => {
    if (settings.cinder) await manage("cinder", "cinder-manage", "db", "sync");
  };
  update("tables and keys");
  await Promise.all([keystone(), nova(), cinder()]);
  const files = (await readdir(paths.databases)).filter((name) => name.endsWith(".db"));
  await python("write_ahead.py", ...files.map((name) => path.join(paths.databases, name)));
  await writeFile(whole, "");
}
