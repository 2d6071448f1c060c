import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { run } from "../../sandbox/nodes/command";
import { projectFolder } from "../../sandbox/paths";
import { BundleUpstream } from "../support/bundle-upstream";

/**
 * Publishes what a bundle of the sandbox has, as the projects and their registry do.
 *
 * @param bundle its folder
 * @param staging a folder to make
 */
export async function publishBundle(
  bundle: string,
  version: string,
  staging: string,
): Promise<BundleUpstream> {
  await mkdir(staging);
  await run("tar", ["-xf", path.join(bundle, "images", "images.tar"), "-C", staging]);
  const upstream = await BundleUpstream.start();
  const sums = (await readFile(path.join(bundle, "SHA256SUMS"), "utf8"))
    .split("\n")
    .map((line) => line.split("  "));
  upstream.publishPrograms(
    version,
    architecture,
    Object.fromEntries(
      sums.map(([sha256 = "", file = ""]) => [
        path.basename(file),
        { file: path.join(bundle, file), sha256 },
      ]),
    ),
  );
  const manifest = await readFile(path.join(staging, "manifest.json"), "utf8");
  for (const { Config, RepoTags, Layers } of JSON.parse(manifest) as DockerImage[]) {
    const [, repository = "", tag = ""] = /^[^/]+\/(.*):(.*)$/.exec(RepoTags[0] ?? "") ?? [];
    // the names of the files are their digests
    const content = (name: string) => ({ file: path.join(staging, name), sha256: path.parse(name).name });
    const image = { repository, tag, config: content(Config), layers: Layers.map(content) };
    await upstream.publishImage(image, architecture);
  }
  return upstream;
}

interface DockerImage {
  readonly Config: string;
  readonly RepoTags: readonly string[];
  readonly Layers: readonly string[];
}

const architecture = process.arch === "x64" ? "amd64" : "arm64";
const CLI = path.join(projectFolder, "bin", "cli", "cli.js");

/**
 * Makes a bundle with `foresail bundle create`, which is killed while it downloads and then run again.
 *
 * @returns what both runs printed
 */
export async function createBundleDespiteKill(
  upstream: BundleUpstream,
  { version, imageRepository, output }: { version: string; imageRepository: string; output: string },
): Promise<[killed: string, complete: string]> {
  const args = [
    ...[CLI, "bundle", "create", "--kubernetes", version, "--arch", architecture, "--output", output],
    ...["--from-programs", upstream.url, "--registry", upstream.url, "--image-repository", imageRepository],
  ];
  const first = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let killed = "";
  first.stdout.setEncoding("utf8").on("data", (text: string) => {
    killed += text;
    if (/^\d+\/\d+ bin\//m.test(killed)) first.kill("SIGKILL");
  });
  await once(first, "close");
  return [killed, await run(process.execPath, args, { seconds: 200 })];
}

/** Runs `foresail bundle verify`. @returns what it printed */
export function verifyBundle(bundle: string, version: string): Promise<string> {
  const args = ["bundle", "verify", bundle, "--kubernetes", version, "--arch", architecture];
  return run(process.execPath, [CLI, ...args], { seconds: 100 });
}
