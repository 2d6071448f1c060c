import { chmod, copyFile, cp, mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import type { Build } from "./program";
import { CommandFailed, runCommand } from "./run-command";

/** A busy machine compiles slowly, and says with each package that it does. */
const BUILD_MINUTES = { minutes: 180, silentMinutes: 20 };

/** Where Go keeps modules and objects: in the cache, or in FORESAIL_GO_CACHE if several caches share them. */
function goEnvironment(
  cache: string,
  build: Pick<Build, "linux">,
  base: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const goCache = base["FORESAIL_GO_CACHE"] || cache;
  const configuration = base["XDG_CONFIG_HOME"] || path.join(homedir(), ".config");
  const gopath = path.join(goCache, "go");
  return {
    ...base,
    GOPATH: gopath,
    GOMODCACHE: path.join(gopath, "pkg", "mod"),
    GOCACHE: path.join(goCache, "go-build"),
    // Go writes telemetry to the user's configuration folder; their `go env -w` settings (a proxy) still apply
    XDG_CONFIG_HOME: path.join(cache, "go-config"),
    ...(process.platform === "linux"
      ? { GOENV: base["GOENV"] || path.join(configuration, "go", "env") }
      : {}),
    // with trimmed paths, builds from different folders share their objects
    GOFLAGS: "-buildvcs=false -trimpath",
    GOWORK: "off",
    CGO_ENABLED: "0",
    ...(build.linux === true ? { GOOS: "linux" } : {}),
  };
}

/** A Go module could not be built. The message names it and the reason. */
class BuildFailed extends Error {}

function explain(module: string, error: unknown): BuildFailed {
  if (!(error instanceof CommandFailed)) return new BuildFailed(`${module}: ${String(error)}`);
  if (error.code === "ENOENT") {
    return new BuildFailed(
      `${module} has to be built and Go is missing; install Go 1.26 or newer (https://go.dev/doc/install), ` +
        `make sure that "go version" works, and run this again`,
    );
  }
  return new BuildFailed(
    `the Go module ${module} (sandbox/toolchain/modules/${module}) did not build; what is compiled is kept for the next try: ${error.message}`,
  );
}

/**
 * Builds programs from a pinned Go module. The module's folder is copied, so that Go writes nothing into the project,
 * and go.sum is read-only: any other module than the pinned one fails the build.
 * @param modules the folder of the pinned modules
 * @param work an empty folder for the copy
 * @param target where the programs go
 * @throws BuildFailed
 */
export async function goBuild(
  build: Build,
  paths: { cache: string; modules: string; work: string; target: string },
  update: (detail: string) => void,
): Promise<void> {
  const source = path.join(paths.work, build.module);
  const env = goEnvironment(paths.cache, build);
  const go = (args: string[], line?: (text: string) => void) =>
    runCommand("go", args, {
      cwd: source,
      env,
      ...BUILD_MINUTES,
      ...(line === undefined ? {} : { line }),
    });
  try {
    await cp(path.join(paths.modules, build.module), source, { recursive: true });
    await mkdir(paths.target, { recursive: true });
    const copyOut = async (from: Build["beside"], to: string) => {
      if (from === undefined) return;
      const { Dir } = JSON.parse(await go(["mod", "download", "-json", from.module])) as { Dir: string };
      for (const file of from.files) {
        const path_ = from.below === undefined ? path.basename(file) : path.relative(from.below, file);
        const copy = path.join(to, path_);
        await mkdir(path.dirname(copy), { recursive: true });
        await copyFile(path.join(Dir, file), copy);
        await chmod(copy, 0o644); // files of the module cache are read-only
      }
    };
    await copyOut(build.embed, source);
    await copyOut(build.beside, paths.target);
    let compiled = 0;
    const compile = (command: readonly string[], output: string, packages: readonly string[]) =>
      go(
        [
          ...command,
          "-mod=readonly",
          "-v", // names each package when it is compiled: the only progress that Go shows
          ...(build.ldflags === undefined ? [] : ["-ldflags", build.ldflags]),
          "-o",
          output,
          ...packages,
        ],
        (text) => update(text.startsWith("go: downloading") ? text.slice(4) : `built ${++compiled} packages`),
      );
    const names = Object.keys(build.packages);
    const single = names.length === 1 ? names[0] : undefined;
    const output = single === undefined ? `${paths.target}${path.sep}` : path.join(paths.target, single);
    if (names.length > 0) await compile(["build"], output, Object.values(build.packages));
    for (const [file, package_] of Object.entries(build.tests ?? {}))
      await compile(["test", "-c"], path.join(paths.target, file), [package_]);
  } catch (error) {
    throw explain(build.module, error);
  }
}
