/** A stack on the simulated servers of a cloud, whose runs are killed. */
import assert from "node:assert/strict";
import { KubernetesClient } from "../../lib/kubernetes";
import type { Toolchain } from "../../sandbox/toolchain";
import type { SavedMachines } from "../simulation/simulated-machines";
import { obeyAnnotations } from "../simulation/simulated-agents";
import { untilOrphansEnd, upKilledWhen } from "./killed-up";
import { type RecordedStack, StackOnServers, type StartServers } from "./recorded/recorded-stack";

const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";

/** A run that is killed. */
export interface KilledRun<Desired> {
  title: string;
  /** What the stack has before; absent for a new one. */
  from?: Desired;
  to: Desired;
  /** What it prints when it is killed. */
  kills: RegExp[];
}

/** How people go on. */
export interface Way<Desired> {
  title: string;
  /** Whether it needs what the stack had before. */
  goesBack?: boolean;
  /** Returns what they want then; absent for a destroy. */
  edit?: (to: Desired, from: Desired) => Desired;
  /** What `up` may answer in the place of doing it: then the configuration of the killed run leads to its end. */
  refusal?: RegExp;
}

/** A run that is killed once, and one way to go on. */
interface Cell<Desired> {
  title: string;
  run: KilledRun<Desired>;
  kill: RegExp;
  way: Way<Desired>;
}

/**
 * Returns the cells of a sweep: each run, killed at each of its points, and each way to go on.
 *
 * @param byDay the cells that run by day: "2 0 1" is the third run, killed at its first point, in the second way
 */
export function killedCells<Desired>(
  runs: readonly KilledRun<Desired>[],
  ways: readonly Way<Desired>[],
  byDay: readonly string[],
): Cell<Desired>[] {
  return runs.flatMap((run, one) =>
    run.kills.flatMap((kill, two) =>
      ways.flatMap((way, three) => {
        const isPossible = run.from !== undefined || !way.goesBack;
        const isChosen = ALL_TESTS || byDay.includes(`${one} ${two} ${three}`);
        const title = `${way.title}: ${run.title}, killed at ${kill.source}`;
        return isPossible && isChosen ? [{ title, run, kill, way }] : [];
      }),
    ),
  );
}

/** What has to be there at the end. */
interface Expected<Desired> {
  expectEnd(desired: Desired): Promise<void>;
  expectNothing(): Promise<void>;
}

interface CloudOptions<Desired> {
  start: StartServers;
  toolchain: Toolchain;
  /** Secrets of a new stack beside those of its servers. */
  secrets?: Readonly<Record<string, string>>;
  /** Values of the stack's configuration. */
  configuration: (desired: Desired) => Record<string, unknown>;
}

/** The servers of one cell after the other. */
export class KilledCloud<Desired extends object> {
  private opened?: StackOnServers;
  private kubernetes?: KubernetesClient;
  private stopAgents = new AbortController();
  private agents?: Promise<void>;
  /** Stacks as they are before a run that is killed; text, since servers change the objects that they start from. */
  private readonly grounds = new Map<Desired, string>();

  constructor(private readonly options: CloudOptions<Desired>) {}

  /** Kills a run, goes on in a way, and asserts the end. */
  async go({ run, kill, way }: Cell<Desired>, expected: Expected<Desired>): Promise<void> {
    await this.open(run.from);
    this.want(run.to);
    await this.killAt(kill);
    if (way.edit === undefined) {
      await this.stack.destroy();
      return expected.expectNothing();
    }
    const edited = way.edit(run.to, run.from ?? run.to);
    this.want(edited);
    const { exitCode, stdout, stderr } = await this.stack.call(["up", "--yes", "--skip-preview"]);
    const isRefused = exitCode !== 0 && way.refusal?.test((stdout + stderr).replaceAll(/\s+/g, " "));
    if (!isRefused) assert.equal(exitCode, 0, stdout + stderr);
    else {
      this.want(run.to);
      await this.stack.up();
    }
    await expected.expectEnd(isRefused ? run.to : edited);
    const left = await this.stack.preview();
    assert.deepEqual(
      left.map(({ op, type, name, inputs }) => [op, type, name, inputs["steps"]]),
      [],
    );
  }

  /** The names of the Nodes that are Ready and take pods. */
  async nodes(): Promise<string[]> {
    const nodes = (await this.kubernetes?.listNodes()) ?? [];
    return nodes
      .filter(({ spec, status }) => {
        const ready = status?.conditions?.find(({ type }) => type === "Ready");
        return ready?.status === "True" && !spec?.unschedulable;
      })
      .map(({ metadata }) => metadata?.name ?? "")
      .sort();
  }

  /** The names of the machines that there are. */
  async machines(): Promise<string[]> {
    const { machines } = (await this.opened!.servers.save()) as { machines: SavedMachines };
    return machines.machines.map(({ name }) => name).sort();
  }

  async close(): Promise<void> {
    this.stopAgents.abort();
    await this.agents;
    this.kubernetes?.close();
    await this.opened?.close();
    delete this.opened;
  }

  private get stack() {
    return this.opened!.stack;
  }

  private want(desired: Desired): void {
    this.stack.configure(this.options.configuration(desired));
  }

  /** Starts the servers as they are with a stack of this configuration, which is made the first time. */
  private async open(from: Desired | undefined): Promise<void> {
    const ground = from && this.grounds.get(from);
    await this.start(ground === undefined ? undefined : (JSON.parse(ground) as RecordedStack));
    if (from === undefined || ground !== undefined) return;
    this.want(from);
    await this.stack.up();
    this.grounds.set(from, JSON.stringify(await this.opened!.save()));
  }

  private async start(recorded?: RecordedStack): Promise<void> {
    const { start, toolchain, secrets = {} } = this.options;
    this.opened = await StackOnServers.open(start, toolchain, recorded);
    if (!recorded) for (const [key, value] of Object.entries(secrets)) await this.stack.setSecret(key, value);
    const { kubeconfig } = this.opened.servers;
    assert.ok(kubeconfig !== undefined);
    this.kubernetes = await KubernetesClient.connect({ kubeconfig }, { seconds: 10 });
    this.stopAgents = new AbortController();
    const { signal } = this.stopAgents;
    this.agents = obeyAnnotations(this.kubernetes, [], { milliseconds: 300, signal });
  }

  private async killAt(kill: RegExp): Promise<void> {
    const up = await upKilledWhen(this.stack, "the whole tree", (said) =>
      kill.test(said()) ? { kill } : undefined,
    );
    assert.ok(up.killed, `it ended before ${kill.source}:\n${up.output}`);
    await untilOrphansEnd(up.orphans);
    await this.stack.clearDeadLocks();
  }
}
