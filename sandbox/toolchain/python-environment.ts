import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Origin, Reporter } from "../progress";
import { pythonFolder } from "./cache";
import { findOnPath } from "./installed";
import { withLock } from "./lock";
import { CommandFailed, runCommand } from "./run-command";

/** A set of Python packages of locked versions and hashes, in an environment of its own. */
interface PythonPackages {
  readonly name: string;
  readonly version: string;
  /** The title shown to users. */
  readonly title: string;
}

/** The sets by the names that Need uses; each has a folder with requirements.in, excludes.txt and requirements.txt below python/. */
export const pythonPackages = {
  openstack: { name: "openstack", version: "2025.1", title: "OpenStack 2025.1 from PyPI" },
} satisfies Record<string, PythonPackages>;

/** A set that a system or a test tier can request. */
export type PythonPackagesName = keyof typeof pythonPackages;

/** Versions of Python for which these packages are released. */
const PYTHONS = ["3.12", "3.11", "3.10"];

const UV_VERSION = "0.9.11";

const MINUTES = 20;

/**
 * Chooses one of the found interpreters.
 * @param found command → its version, such as "3.11"; in the order of preference
 * @returns the command
 * @throws Error that says what to install
 */
export function choosePython(found: ReadonlyMap<string, string>): string {
  for (const [command, version] of found) if (PYTHONS.includes(version)) return command;
  const seen = [...found].map(([command, version]) => `${command} is ${version}`).join(", ");
  throw new Error(
    `OpenStack needs Python ${PYTHONS.join(", ")} with its module venv, and ${seen || "there is no python3"}; ` +
      `install it, on Debian and Ubuntu: sudo apt-get install --no-install-recommends python3 python3-venv`,
  );
}

async function findPython(): Promise<string> {
  const found = new Map<string, string>();
  const says = "import sys; print('%d.%d' % sys.version_info[:2])";
  for (const name of ["python3", ...PYTHONS.map((version) => `python${version}`), "/usr/bin/python3"]) {
    const command = name.startsWith("/") ? name : await findOnPath(name);
    if (command === undefined) continue;
    const version = await runCommand(command, ["-c", says], { minutes: 0.5 }).catch(() => "");
    if (version !== "") found.set(command, version.trim());
  }
  return choosePython(found);
}

/** uv installs in seconds what takes pip minutes. Uses an installed one, else installs it from PyPI. */
async function ensureUv(python: string, cache: string, update: (detail: string) => void): Promise<string> {
  const own = await findOnPath("uv");
  if (own !== undefined) return own;
  const folder = path.join(cache, "python", `uv-${UV_VERSION}`);
  const uv = path.join(folder, "bin", "uv");
  const works = await runCommand(uv, ["--version"], { minutes: 0.5 }).catch(() => "");
  if (works.startsWith(`uv ${UV_VERSION}`)) return uv;
  update(`uv ${UV_VERSION} from PyPI`);
  await rm(folder, { recursive: true, force: true });
  try {
    await runCommand(python, ["-m", "venv", folder], { minutes: 5 });
  } catch (error) {
    throw new Error(
      `${python} can't create an environment; install its module venv, on Debian and Ubuntu: ` +
        `sudo apt-get install --no-install-recommends python3-venv\n${String(error)}`,
      { cause: error },
    );
  }
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", `uv==${UV_VERSION}`];
  await runCommand(path.join(folder, "bin", "python"), install, { minutes: MINUTES });
  return uv;
}

/**
 * Ensures that a set of Python packages is in the cache; installs a missing one from PyPI (or the index that pip.conf
 * or UV_INDEX_URL names) in the locked versions, each file's hash checked.
 * @returns the absolute path of the environment's Python
 * @throws Error with the packages to install or PyPI's response
 */
export async function ensurePythonPackages(
  packages: PythonPackages,
  report: Reporter,
  cache: string,
): Promise<string> {
  const locked = path.join(pythonFolder, packages.name, "requirements.txt");
  const key = createHash("sha256")
    .update(await readFile(locked))
    .digest("hex")
    .slice(0, 12);
  // an environment can't be moved, so it is created in place, and the stamp marks it as complete
  const folder = path.join(cache, "python", `${packages.name}-${packages.version}-${key}`);
  const stamp = path.join(folder, "foresail-stamp");
  const python = path.join(folder, "bin", "python");
  const isThere = () =>
    readFile(stamp).then(
      () => true,
      () => false,
    );
  if (await isThere()) return python;
  const lock = path.join(cache, "locks", `${packages.name}-${packages.version}`);
  await report.step(packages.title, (update) =>
    withLock(lock, update, async () => {
      if (await isThere()) return { from: "cached" as Origin };
      await install(await findPython(), folder, locked, cache, update);
      await writeFile(stamp, `${key}\n`);
      return { from: "downloaded" as Origin };
    }),
  );
  return python;
}

async function install(
  base: string,
  folder: string,
  locked: string,
  cache: string,
  update: (detail: string) => void,
): Promise<void> {
  const uv = await ensureUv(base, cache, update);
  update("an empty environment");
  await rm(folder, { recursive: true, force: true });
  await mkdir(path.dirname(folder), { recursive: true });
  await runCommand(uv, ["venv", "--quiet", "--python", base, folder], { minutes: 5 });
  // a user's setting could leave the packages uncompiled, and every start would compile them again
  const { PYTHONDONTWRITEBYTECODE: _, ...env } = process.env;
  try {
    await runCommand(
      uv,
      [
        ...["pip", "install", "--native-tls", "--require-hashes", "--compile-bytecode"],
        // the locked list is complete; excludes.txt lists what no driver here needs
        "--no-deps",
        ...["--python", path.join(folder, "bin", "python"), "--requirement", locked],
      ],
      { minutes: MINUTES, env, line: (text) => update(text.trim()) },
    );
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    throw new Error(`the Python packages of ${locked} could not be installed: ${error.message}`, {
      cause: error,
    });
  }
}
