import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Reporter } from "../progress";
import { ensurePackages } from "../toolchain/packages";
import { run, succeeds } from "./command";
import { ContainerEngine } from "./engine";
import { NODE_PACKAGES, NODE_RELEASE, NODE_SETUP } from "./node-recipe";
import { cacheFolder } from "./paths";

const key = createHash("sha256")
  .update(JSON.stringify([NODE_RELEASE, NODE_PACKAGES, NODE_SETUP, process.arch]))
  .digest("hex")
  .slice(0, 12);

/** The image of every node: its tag changes with the recipe. */
export const NODE_IMAGE = `localhost/foresail-node:${key}`;

/**
 * Provides the nodes' image to the engine: builds it once per recipe, keeps it in the cache, and imports it when the
 * engine does not have it.
 * @throws Error when neither mmdebstrap nor a container build succeeds
 */
export async function ensureNodeImage(report: Reporter): Promise<void> {
  const engine = await ContainerEngine.ensure(report);
  if (await engine.hasImage(NODE_IMAGE)) return;
  const archive = path.join(cacheFolder, "node-image", `${key}.tar`);
  if (!existsSync(archive)) await ensurePackages(["mmdebstrap"], report);
  if (!existsSync(archive) && !(await succeeds("mmdebstrap", ["--version"]))) {
    await report.step("node image", (update) => buildFromRegistry(engine, update));
    return;
  }
  await report.step("node image", async (update) => {
    if (!existsSync(archive)) {
      update("building a root file system from distribution packages");
      await bootstrap(archive);
    }
    update(`importing it into ${engine.program}`);
    await engine.call(["import", archive, NODE_IMAGE], 300);
    update(`root file system of ${NODE_RELEASE} imported into ${engine.program}`);
  });
}

/** Writes the root file system as a tar file; a killed run leaves only a temporary file. */
async function bootstrap(archive: string): Promise<void> {
  await mkdir(path.dirname(archive), { recursive: true });
  const folder = await mkdtemp(path.join(tmpdir(), "foresail-node-"));
  const part = `${archive}.${randomUUID().slice(0, 8)}.tar`;
  try {
    const setup = path.join(folder, "setup.sh");
    await writeFile(setup, NODE_SETUP);
    await run(
      "mmdebstrap",
      [
        "--variant=minbase",
        `--include=${NODE_PACKAGES.join(",")}`,
        "--dpkgopt=path-exclude=/usr/share/doc/*",
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
        `--aptopt=${await writeProxyOptions(folder)}`,
        `--customize-hook=chroot "$1" sh -e < '${setup}'`,
        NODE_RELEASE,
        part,
        ...(await packageSources()),
      ],
      { seconds: 900 },
    );
    await rename(part, archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(part, { force: true });
  }
}

/** Returns this machine's package source for the release, such as a company mirror, or else the distribution's own. */
async function packageSources(): Promise<string[]> {
  const targets = await run("apt-get", [
    "indextargets",
    "--format",
    "$(REPO_URI) $(RELEASE) $(COMPONENT)",
    "Created-By: Packages",
  ]).catch(() => "");
  const own = targets
    .split("\n")
    .filter((line) => new RegExp(`/debian[^ ]* ${NODE_RELEASE}(-updates|-security)? main$`).test(line));
  const sources = own.some((line) => line.endsWith(` ${NODE_RELEASE} main`))
    ? own
    : [`http://deb.debian.org/debian ${NODE_RELEASE} main`];
  return [...new Set(sources)].map((source) => `deb ${source}`);
}

/**
 * Writes this machine's apt proxies, which mmdebstrap does not read by itself, to a file, because they may contain a
 * password.
 */
async function writeProxyOptions(folder: string): Promise<string> {
  const dump = await run("apt-config", ["dump"]).catch(() => "");
  const proxies = dump.split("\n").filter((line) => /^Acquire::https?::(.*::)?Proxy "/.test(line));
  const file = path.join(folder, "apt.conf");
  await writeFile(file, proxies.map((line) => `${line}\n`).join(""), { mode: 0o600 });
  return file;
}

/** Fallback without mmdebstrap: a container build from the distribution's own image. */
async function buildFromRegistry(engine: ContainerEngine, update: (detail: string) => void): Promise<void> {
  update(`building it with ${engine.program} from debian:${NODE_RELEASE}`);
  const folder = await mkdtemp(path.join(tmpdir(), "foresail-node-"));
  try {
    await writeFile(path.join(folder, "setup.sh"), NODE_SETUP);
    await writeFile(
      path.join(folder, "Containerfile"),
      [
        `FROM docker.io/library/debian:${NODE_RELEASE}`,
        `RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ${NODE_PACKAGES.join(" ")} && rm -rf /var/lib/apt/lists/*`,
        "COPY setup.sh /setup.sh",
        "RUN sh -e /setup.sh && rm /setup.sh",
        "",
      ].join("\n"),
    );
    await engine.call(
      ["build", "--tag", NODE_IMAGE, "--file", path.join(folder, "Containerfile"), folder],
      900,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
