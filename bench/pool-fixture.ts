import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { CLUSTER_API, FAULT, INFRASTRUCTURE_API, POOL_KIND } from "../sandbox/capi/kinds";
import type { Toolchain } from "../sandbox/toolchain";
import { makeCompiledClone, removeFolder } from "../test/engine/compiled-clone";
import { type MachinePoolFixture, poolConfiguration, poolStack } from "../test/engine/machine-pool-fixture";
import { apiPrograms } from "../test/engine/simulated-fixture";
import type { TestStack } from "../test/engine/test-stack";
import { CapiFixture } from "../test/simulation/capi-fixture";
import { MemoryWatch } from "./process-memory";

// in the folder of the API server, where it runs
const AUDIT_POLICY = "audit-policy.yaml";
const AUDIT_LOG = "audit.log";

// Cluster API annotates the nodes of a cluster one by one, five a second
const MANY_NODES_SECONDS = 900;

/** A stack of one pool on Cluster API's own manager, whose requests are counted. */
export class PoolFixture {
  private memoryStack: TestStack | undefined;

  private constructor(private readonly made: MachinePoolFixture) {}

  /** @param milliseconds from a machine's creation to its ready Node */
  static async start(toolchain: Toolchain, milliseconds: number): Promise<PoolFixture> {
    const capi = new CapiFixture({
      programs: apiPrograms(toolchain),
      manager: toolchain.program("cluster-api"),
      milliseconds,
      apiServerArguments: [`--audit-policy-file=${AUDIT_POLICY}`, `--audit-log-path=${AUDIT_LOG}`],
    });
    writeFileSync(
      path.join(capi.api.folder, AUDIT_POLICY),
      "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{ level: Metadata }]\n",
    );
    await capi.start();
    const folder = makeCompiledClone();
    const stack = await poolStack({ capi, folder, toolchain }, "bench");
    return new PoolFixture({ capi, stack, folder, toolchain });
  }

  /** Path of the administrator's kubeconfig. */
  get kubeconfigFile(): string {
    return this.made.capi.api.kubeconfigFile;
  }

  configure(fields: Record<string, unknown>): void {
    this.made.stack.configure(poolConfiguration(fields));
  }

  /**
   * Runs `pulumi up`.
   * @returns when the pool's resource said that every node is Ready, in milliseconds of `Date.now()`
   * @throws Error when it fails
   */
  async up(): Promise<number> {
    let said = 0;
    await this.made.stack.up((line) => {
      if (line.includes("every node is Ready")) said ||= Date.now();
    });
    return said;
  }

  /** Runs `pulumi up` and ignores its result. */
  async try(): Promise<void> {
    await this.made.stack.call(["up", "--yes", "--skip-preview"]);
  }

  /**
   * Scales a second pool, in a stack of its own, to this number of nodes.
   * @returns how long that took, and the peak of the dynamic provider's resident memory meanwhile
   */
  async memoryAt(replicas: number): Promise<{ megabytes: number; seconds: number }> {
    const stage = MANY_NODES_SECONDS;
    this.memoryStack ??= await poolStack(this.made, "memory", 2 * stage);
    const timeouts = {
      bootstrapSeconds: stage,
      infrastructureSeconds: stage,
      nodesSeconds: stage,
      deletionSeconds: stage,
    };
    this.memoryStack.configure(poolConfiguration({ name: "pool-b", replicas, timeouts }));
    const watch = new MemoryWatch();
    const began = performance.now();
    await this.memoryStack.up().finally(() => watch.stop());
    return {
      megabytes: watch.stop().get("dynamic provider") ?? 0,
      seconds: (performance.now() - began) / 1_000,
    };
  }

  /** Returns when this number of Nodes is Ready, in milliseconds of `Date.now()`. */
  async readyAt(count: number, seconds: number): Promise<number> {
    return this.made.capi.kubernetes.watchUntil<number, NodeStatus>({
      what: `${count} nodes`,
      apiVersion: "v1",
      kind: "Node",
      seconds,
      decide: (nodes) => {
        const ready = nodes.filter(({ status }) =>
          (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True"),
        );
        return ready.length === count ? { done: Date.now() } : { pending: `${ready.length} are` };
      },
    });
  }

  /** Returns when Cluster API has counted this number of a pool's nodes as ready, in milliseconds of `Date.now()`. */
  async countedAt(name: string, count: number, seconds: number): Promise<number> {
    return this.made.capi.kubernetes.watchUntil<number, PoolStatus>({
      what: `${count} counted nodes`,
      apiVersion: CLUSTER_API,
      kind: "MachinePool",
      namespace: "demo",
      name,
      seconds,
      decide: ([pool]) => {
        const counted = pool?.status?.readyReplicas ?? 0;
        return counted === count ? { done: Date.now() } : { pending: `${counted} are` };
      },
    });
  }

  /** Returns the number of the stack's requests that the API server has answered so far. */
  requests(): number {
    const log = readFileSync(path.join(this.made.capi.api.folder, AUDIT_LOG), "utf8");
    return log
      .split("\n")
      .filter((line) => line.includes('"userAgent":"foresail/') && line.includes("foresail/bench")).length;
  }

  /** Makes new machines never register from now on. */
  async withholdNodes(name: string): Promise<void> {
    await this.made.capi.kubernetes.mergePatch(
      { apiVersion: INFRASTRUCTURE_API, kind: POOL_KIND, namespace: "demo", name },
      { metadata: { annotations: { [FAULT]: "no-nodes" } } },
    );
  }

  async stop(): Promise<void> {
    await this.made.capi.stop();
    removeFolder(this.made.folder);
  }
}

interface PoolStatus {
  status?: { readyReplicas?: number };
}

interface NodeStatus {
  status?: { conditions?: { type: string; status: string }[] };
}
