import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Reporter } from "../progress";
import { ensureToolchain } from "../toolchain";
import { CONTAINERD_FILES, CONTAINERD_VERSIONS } from "../toolchain/containerd-program";
import { ensurePackages } from "../toolchain/packages";
import { run, succeeds } from "./command";
import { ContainerEngine } from "./engine";
import { DEFAULT_KIND, describeKind, releaseOf, type NodeKind } from "./node-kinds";
import { CONTAINERD_IN_NODE, CONTAINERD_SETUP, NODE_PACKAGES, NODE_SETUP } from "./node-recipe";
import { cacheFolder } from "./paths";

/** Returns the tag of a kind's image, which changes with the recipe. */
function tagOf(kind: NodeKind): string {
  const recipe = [releaseOf(kind), NODE_PACKAGES, setupOf(kind), process.arch];
  const version = kind.containerd === undefined ? [] : [CONTAINERD_VERSIONS[kind.containerd]];
  return createHash("sha256")
    .update(JSON.stringify([...recipe, ...version]))
    .digest("hex")
    .slice(0, 12);
}

const setupOf = ({ containerd }: NodeKind): string =>
  NODE_SETUP + (containerd === undefined ? "" : CONTAINERD_SETUP);

/** Returns the image of a kind's nodes. */
export const nodeImage = (kind: NodeKind = DEFAULT_KIND): string => `localhost/foresail-node:${tagOf(kind)}`;

/**
 * Provides the image of a kind's nodes to the engine: builds it once per recipe, keeps it in the cache, and imports it
 * when the engine does not have it.
 * @throws Error when neither mmdebstrap nor a container build succeeds
 */
export async function ensureNodeImage(report: Reporter, kind: NodeKind = DEFAULT_KIND): Promise<void> {
  const engine = await ContainerEngine.ensure(report);
  const image = nodeImage(kind);
  if (await engine.hasImage(image)) return;
  const archive = path.join(cacheFolder, "node-image", `${tagOf(kind)}.tar`);
  const programs = existsSync(archive) ? [] : await containerdPrograms(kind, report);
  if (!existsSync(archive)) await ensurePackages(["mmdebstrap"], report);
  if (!existsSync(archive) && !(await succeeds("mmdebstrap", ["--version"]))) {
    await report.step(`node image of ${describeKind(kind)}`, (update) =>
      buildFromRegistry(engine, kind, programs, update),
    );
    return;
  }
  await report.step(`node image of ${describeKind(kind)}`, async (update) => {
    if (!existsSync(archive)) {
      update("building a root file system from distribution packages");
      await bootstrap(kind, programs, archive);
    }
    update(`importing it into ${engine.program}`);
    await engine.call(["import", archive, image], 300);
    update(`root file system of ${releaseOf(kind)} imported into ${engine.program}`);
  });
}

/** Returns the programs of the kind's own release of containerd; none for the distribution's package. */
async function containerdPrograms({ containerd }: NodeKind, report: Reporter): Promise<string[]> {
  if (containerd === undefined) return [];
  const toolchain = await ensureToolchain({ containerd: [containerd] }, report);
  const folder = path.dirname(toolchain.program(`containerd-${containerd}`));
  return CONTAINERD_FILES.map((file) => path.join(folder, file));
}

/** Writes the root file system as a tar file; a killed run leaves only a temporary file. */
async function bootstrap(kind: NodeKind, programs: readonly string[], archive: string): Promise<void> {
  await mkdir(path.dirname(archive), { recursive: true });
  const folder = await mkdtemp(path.join(tmpdir(), "foresail-node-"));
  const part = `${archive}.${randomUUID().slice(0, 8)}.tar`;
  try {
    const setup = path.join(folder, "setup.sh");
    await writeFile(setup, setupOf(kind));
    await run(
      "mmdebstrap",
      [
        "--variant=minbase",
        `--include=${NODE_PACKAGES.join(",")}`,
        "--dpkgopt=path-exclude=/usr/share/doc/*",
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
        `--aptopt=${await writeProxyOptions(folder)}`,
        ...(programs.length === 0
          ? []
          : [
              `--customize-hook=mkdir -p "$1"${CONTAINERD_IN_NODE} && cp ${programs.map((file) => `'${file}'`).join(" ")} "$1"${CONTAINERD_IN_NODE}`,
            ]),
        `--customize-hook=chroot "$1" sh -e < '${setup}'`,
        releaseOf(kind),
        part,
        ...(await packageSources(releaseOf(kind))),
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
async function packageSources(release: string): Promise<string[]> {
  const targets = await run("apt-get", [
    "indextargets",
    "--format",
    "$(REPO_URI) $(RELEASE) $(COMPONENT)",
    "Created-By: Packages",
  ]).catch(() => "");
  // a mirror of one release has the others beside it
  const own = targets
    .split("\n")
    .map((line) => / \S+?(-updates|-security)? main$/.exec(line))
    .flatMap((match) =>
      match === null || !/\/debian[^ ]* /.test(match.input)
        ? []
        : [`${match.input.slice(0, match.index)} ${release}${match[1] ?? ""} main`],
    );
  const sources = own.some((line) => line.endsWith(` ${release} main`))
    ? own
    : [`http://deb.debian.org/debian ${release} main`];
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
async function buildFromRegistry(
  engine: ContainerEngine,
  kind: NodeKind,
  programs: readonly string[],
  update: (detail: string) => void,
): Promise<void> {
  update(`building it with ${engine.program} from debian:${releaseOf(kind)}`);
  const folder = await mkdtemp(path.join(tmpdir(), "foresail-node-"));
  try {
    await writeFile(path.join(folder, "setup.sh"), setupOf(kind));
    await mkdir(path.join(folder, "containerd"));
    for (const program of programs)
      await copyFile(program, path.join(folder, "containerd", path.basename(program)));
    await writeFile(
      path.join(folder, "Containerfile"),
      [
        `FROM docker.io/library/debian:${releaseOf(kind)}`,
        `RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ${NODE_PACKAGES.join(" ")} && rm -rf /var/lib/apt/lists/*`,
        `COPY containerd ${CONTAINERD_IN_NODE}`,
        "COPY setup.sh /setup.sh",
        "RUN sh -e /setup.sh && rm /setup.sh",
        "",
      ].join("\n"),
    );
    await engine.call(
      ["build", "--tag", nodeImage(kind), "--file", path.join(folder, "Containerfile"), folder],
      900,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
