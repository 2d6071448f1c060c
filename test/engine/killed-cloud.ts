/** A stack on the simulated servers of a cloud, whose runs are killed. */
import assert from "node:assert/strict";
import { KubernetesClient } from "../../lib/kubernetes";
import type { Toolchain } from "../../sandbox/toolchain";
import type { SavedMachines } from "../simulation/simulated-machines";
import { obeyAnnotations } from "../simulation/simulated-agents";
import { untilOrphansEnd, upKilledWhen } from "./killed-up";
import { type RecordedStack, StackOnServers, type StartServers } from "./recorded/recorded-stack";

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
  /** Returns what they want then; absent for a destroy. */
  edit?: (to: Desired, from: Desired) => Desired;
  /** What `up` may answer in the place of doing it: then the configuration of the killed run leads to its end. */
  refusal?: RegExp;
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
  /** Stacks as they are before a run that is killed. */
  private readonly grounds = new Map<Desired, RecordedStack>();

  constructor(private readonly options: CloudOptions<Desired>) {}

  /** Kills a run, goes on in a way, and asserts the end. */
  async go(
    run: KilledRun<Desired>,
    kill: RegExp,
    way: Way<Desired>,
    expected: Expected<Desired>,
  ): Promise<void> {
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
    assert.deepEqual(await this.stack.preview(), []);
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
    await this.start(from && this.grounds.get(from));
    if (from === undefined || this.grounds.has(from)) return;
    this.want(from);
    await this.stack.up();
    this.grounds.set(from, await this.opened!.save());
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
