import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ContainerEngine } from "../../sandbox/nodes/engine";
import { ensureNodeImage, nodeImage } from "../../sandbox/nodes/node-image";
import { projectFolder } from "../../sandbox/paths";
import type { Reporter } from "../../sandbox/progress";
import { ensureToolchain } from "../../sandbox/toolchain";
import { byNight } from "../left-out";

const silent: Reporter = { step: (_title, work) => work(() => undefined) };
const BASE = `localhost/foresail-image-base:${process.pid}`;
const IMAGE = `localhost/foresail-image:${process.pid}`;
const AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt";

/** A base as the recipe demands it, of what this machine has: Node.js, npm, the Pulumi CLI, and the plugins. */
const BASE_RECIPE = () => `
FROM ${nodeImage()}
COPY node /usr/local/bin/
COPY npm /usr/local/lib/node_modules/npm
COPY pulumi /pulumi/bin/
COPY plugins /opt/pulumi/plugins
COPY authorities.crt ${AUTHORITIES}
ENV NPM_CONFIG_CAFILE=${AUTHORITIES}
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && userdel --remove foresail
`;

describe("the container image", function () {
  byNight("unit/scripts/container-image.test.ts compares the recipe with package.json by day");
  this.timeout(900_000);
  let folder: string;
  let engine: ContainerEngine | undefined;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-image-"));
    await ensureNodeImage(silent);
    engine = await ContainerEngine.ensure(silent);
    await build(BASE, await writeBase());
    await build(IMAGE, writeContext(), `BASE=${BASE}`, "ARCHIVE=foresail.tgz");
  });
  after(async () => {
    // left out by day
    if (engine === undefined) return;
    rmSync(folder, { recursive: true });
    for (const image of [IMAGE, BASE]) await engine.call(["image", "rm", "--force", image]).catch(() => "");
  });

  async function writeBase(): Promise<string> {
    const programs = ["pulumi", "plugin-command", "plugin-kubernetes", "plugin-openstack"] as const;
    const toolchain = await ensureToolchain({ programs }, silent);
    const base = path.join(folder, "base");
    mkdirSync(base);
    copyFileSync(process.execPath, path.join(base, "node"));
    const npm = realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim());
    cpSync(path.resolve(npm, "../.."), path.join(base, "npm"), { recursive: true });
    cpSync(path.dirname(toolchain.program("pulumi")), path.join(base, "pulumi"), { recursive: true });
    const home = toolchain.environment["PULUMI_HOME"]!;
    cpSync(path.join(home, "plugins"), path.join(base, "plugins"), { recursive: true });
    if (existsSync(AUTHORITIES)) copyFileSync(AUTHORITIES, path.join(base, "authorities.crt"));
    else writeFileSync(path.join(base, "authorities.crt"), "");
    writeFileSync(path.join(base, "Containerfile"), BASE_RECIPE());
    return base;
  }

  function writeContext(): string {
    const context = path.join(folder, "image");
    mkdirSync(context);
    const args = ["pack", "--ignore-scripts", "--json", "--loglevel=error", "--pack-destination", context];
    const [{ filename }] = JSON.parse(
      execFileSync("npm", args, { cwd: projectFolder, encoding: "utf8" }),
    ) as [{ filename: string }];
    copyFileSync(path.join(context, filename), path.join(context, "foresail.tgz"));
    for (const file of ["Containerfile", "template/Pulumi.yaml"])
      cpSync(path.join(projectFolder, file), path.join(context, file));
    return context;
  }

  /** Builds with this machine's network, since a registry may be reachable by its settings alone. */
  async function build(tag: string, context: string, ...args: string[]): Promise<void> {
    const own = (await engine!.limitArguments()).filter((_, at, all) => all[0] === "--runtime" && at < 2);
    const given = args.flatMap((arg) => ["--build-arg", arg]);
    const file = path.join(context, "Containerfile");
    await engine!.call(
      [...own, "build", "--network=host", "--rm", ...given, "--tag", tag, "--file", file, context],
      600,
    );
  }

  /** Runs a program of the image without a network, beside the stack files of a folder. */
  async function run(program: string, ...args: string[]): Promise<string> {
    const stacks = path.join(folder, "stacks");
    mkdirSync(path.join(stacks, "config"), { recursive: true });
    writeFileSync(
      path.join(stacks, "config/Pulumi.prod.yaml"),
      "config: { foresail:cluster: { nmae: typo } }\n",
    );
    execFileSync("chmod", ["-R", "a+rwX", folder]);
    return engine!.call([
      ...["run", "--rm", "--network=none", ...(await engine!.limitArguments())],
      ...["--volume", `${stacks}:/work/stacks`, "--entrypoint", program],
      ...[
        "--env",
        "PULUMI_BACKEND_URL=file:///tmp",
        "--env",
        "PULUMI_CONFIG_PASSPHRASE=test",
        IMAGE,
        ...args,
      ],
    ]);
  }

  it("is foresail of this version, as a user without rights", async () => {
    const { version } = JSON.parse(readFileSync(path.join(projectFolder, "package.json"), "utf8")) as {
      version: string;
    };
    assert.equal((await run("foresail", "--version")).trim(), version);
    assert.equal((await run("id", "--user")).trim(), "10001");
  });

  it("previews the stacks of a mounted folder by its own engine, SDKs and plugins, without a network", async () => {
    const commands = "pulumi stack init prod && { foresail preview --stack prod 2>&1; echo exit code $?; }";
    const printed = await run("sh", "-c", commands);
    assert.match(printed, /nmae/);
    assert.match(printed, /exit code 1/);
    const plugins = await run("pulumi", "plugin", "ls");
    for (const plugin of ["command", "kubernetes", "openstack"]) assert.match(plugins, new RegExp(plugin));
  });
});
