import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { PRELOADED_OPTIONS, preloading } from "../sandbox/engine-environment";
import { freePorts } from "../sandbox/management/api-server";
import { projectName } from "../sandbox/paths";
import type { Toolchain } from "../sandbox/toolchain";
import { makeCompiledClone, removeFolder } from "../test/engine/compiled-clone";
import { FLEET_KEY, FleetCommand } from "../test/engine/fleet-command";
import { FleetWorker } from "../test/engine/fleet-worker";
import { TestStack } from "../test/engine/test-stack";
import { descendants } from "../test/support/process-tree";
import { TemporalServer } from "../test/support/temporal-server";
import { type Cost, costOf } from "./cost";
import type { BenchContext } from "./measurement";
import { Simulation } from "./simulation";
import type { StackContent } from "./stack";

/** How many stacks each way previews at once. */
export const PARALLEL = 2;

/** Each way to preview all stacks, as a command for a shell; the names are its arguments. */
const WAYS = {
  loop: 'for stack do pulumi preview --stack "$stack" --expect-no-changes --non-interactive || exit 1; done',
  xargs: `printf '%s\\n' "$@" | xargs -P ${PARALLEL} -I{} pulumi preview --stack {} --expect-no-changes --non-interactive`,
  fleet: 'node bin/cli/cli.js fleet preview --file "fleet-$#.yaml"',
  temporal: 'node bin/cli/cli.js fleet preview --file "fleet-$#.yaml" --runner temporal',
};
export type Way = keyof typeof WAYS;

/** The region of all stacks, which a Temporal server needs. */
const REGION = "bench";
const SAMPLE_MILLISECONDS = 200;
const PAGE_KILOBYTES = 4;

/** The cost of previewing stacks, and the memory of all processes together at its peak, in MB. */
export interface FleetCost extends Cost {
  readonly peak: number;
}

/** Many stacks of one project without changes, in a clone and a backend of their own. */
export class FleetStacks {
  private server: TemporalServer | undefined;
  private worker: FleetWorker | undefined;

  private constructor(
    private readonly folder: string,
    private readonly model: TestStack,
    private readonly names: readonly string[],
  ) {}

  /** Does the work with this many stacks on simulated machines, and removes them. */
  static async using<T>(
    { toolchain, report }: Pick<BenchContext, "toolchain" | "report">,
    count: number,
    work: (stacks: FleetStacks) => Promise<T>,
  ): Promise<T> {
    const simulation = await Simulation.start(1);
    try {
      const content = simulation.content(2);
      const stacks = await report.step(`${count} stacks`, () => FleetStacks.make(toolchain, content, count));
      return await work(stacks).finally(() => stacks.delete());
    } finally {
      await simulation.stop();
    }
  }

  /** Makes one stack by `up`, and the others as copies of it under their own names. */
  private static async make(
    toolchain: Toolchain,
    content: StackContent,
    count: number,
  ): Promise<FleetStacks> {
    const folder = makeCompiledClone();
    const names = Array.from({ length: count }, (_, index) => `prod-${String(index + 1).padStart(3, "0")}`);
    const stackOf = (stack: string) => new TestStack({ folder, project: projectName, stack }, toolchain);
    const [first = ""] = names;
    const model = await stackOf(first).create();
    await model.setSecret("sshPrivateKey", content.privateKey);
    model.configure({ system: "ssh", labels: { region: REGION }, cluster: content.cluster });
    await model.up();
    const state = JSON.stringify(await model.export());
    const stateFile = path.join(folder, "state.json");
    for (const name of names.slice(1)) {
      const stack = await stackOf(name).create();
      // the same salt, so that the secrets in it can be read
      writeFileSync(stack.stackFile, readFileSync(model.stackFile));
      writeFileSync(stateFile, renamed(state, first, name));
      const { exitCode, stderr } = await stack.call(["stack", "import", "--file", stateFile]);
      if (exitCode !== 0) throw new Error(`pulumi stack import failed:\n${stderr}`);
    }
    return new FleetStacks(folder, model, names);
  }

  /** Starts a Temporal server and a worker of all stacks, for previews by them. */
  async startTemporal(): Promise<void> {
    const address = `127.0.0.1:${(await freePorts(1))[0]}`;
    this.server = await TemporalServer.open({ address, database: path.join(this.folder, "temporal.db") });
    await this.server.start();
    const command = new FleetCommand(this.model, { TEMPORAL_ADDRESS: address });
    this.worker = await FleetWorker.start(command, REGION, "--file", this.writeFleet(this.names));
  }

  /** Writes waves of these stacks. @returns the name of the file */
  private writeFleet(stacks: readonly string[]): string {
    const file = `fleet-${stacks.length}.yaml`;
    const waves = [{ name: "all", stacks }];
    writeFileSync(path.join(this.folder, file), stringify({ maxParallel: PARALLEL, waves }));
    return file;
  }

  /** Previews the first stacks. @throws Error when there is anything to do, or a preview fails */
  async preview(way: Way, count: number): Promise<FleetCost> {
    const names = this.names.slice(0, count);
    this.writeFleet(names);
    const { PULUMI_PARALLEL_DIFF: _, ...asTyped } = this.model.environment;
    // foresail sets by itself what makes its engines fast; only the tool chain's part of the sandbox stays
    const address = this.server && {
      ...{ TEMPORAL_ADDRESS: this.server.options.address, FORESAIL_FLEET_KEY: FLEET_KEY },
    };
    const env = { ...asTyped, ...address, NODE_OPTIONS: preloading([PRELOADED_OPTIONS]) };
    const child = () =>
      spawn("sh", ["-c", WAYS[way], "sh", ...names], {
        cwd: this.folder,
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
    let peak = 0;
    const cost = await costOf(async () => {
      const running = child();
      let printed = "";
      for (const stream of [running.stdout, running.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => (printed += text));
      const timer = setInterval(
        () => (peak = Math.max(peak, memoryOf(running.pid ?? 0))),
        SAMPLE_MILLISECONDS,
      );
      const [code] = (await once(running, "close")) as [number | null];
      clearInterval(timer);
      const isFleet = way === "fleet" || way === "temporal";
      const unchanged = printed.match(/^all +\S+ +nothing changes$/gm)?.length ?? 0;
      if (code !== 0 || (isFleet && unchanged !== count))
        throw new Error(`${way} of ${count} stacks ended with ${code}:\n${printed.slice(-3000)}`);
    });
    return { ...cost, peak };
  }

  async delete(): Promise<void> {
    await this.worker?.kill();
    await this.server?.kill();
    removeFolder(this.folder);
  }
}

/** Returns a state under another stack's name. */
const renamed = (state: string, from: string, to: string): string =>
  state
    .replaceAll(`urn:pulumi:${from}::`, `urn:pulumi:${to}::`)
    .replaceAll(`${projectName}-${from}`, `${projectName}-${to}`);

/** Returns the resident memory of all processes below one, in MB; what they share counts for each. */
function memoryOf(ancestor: number): number {
  const pages = descendants(ancestor).map(({ pid }) => residentPages(pid));
  return (pages.reduce((sum, each) => sum + each, 0) * PAGE_KILOBYTES) / 1024;
}

function residentPages(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
  } catch {
    // it ended since the listing
    return 0;
  }
}
