import assert from "node:assert/strict";
import { once } from "node:events";
import { waitFor } from "../../lib/wait";
import type { DockerFaults } from "../../sandbox/capi/docker/commands";
import type { ProviderKinds } from "../../sandbox/capi/kinds";
import { createReporter } from "../../sandbox/progress";
import { ensureToolchain, type Toolchain } from "../../sandbox/toolchain";
import { CapiFixture, CLUSTER } from "../simulation/capi-fixture";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { apiPrograms, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TestStack } from "./test-stack";

type Fields = Record<string, unknown>;

const KUBERNETES_VERSION = "1.36.3";

/** The kinds of Cluster API's providers for kubeadm and for AWS. */
export const AWS_KINDS: ProviderKinds = {
  config: {
    apiVersion: "bootstrap.cluster.x-k8s.io/v1beta1",
    kind: "KubeadmConfig",
    plural: "kubeadmconfigs",
  },
  pool: {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "AWSMachinePool",
    plural: "awsmachinepools",
  },
};

/** A MachinePool, as far as the tests look at it. */
export interface PoolObject {
  spec: { replicas: number; providerIDList?: string[] };
  metadata: { uid: string };
  status?: { phase?: string };
}

/** A stack of one pool in an environment with Cluster API's real manager. */
export interface MachinePoolFixture {
  readonly capi: CapiFixture;
  readonly stack: TestStack;
  readonly folder: string;
  readonly toolchain: Toolchain;
}

/**
 * Registers the mocha hooks; the object is filled in before the first test.
 * @param options.clusterApi which version's manager; default: the one that serves `v1beta1` alone
 * @param options.docker has Cluster API's provider for Docker serve its kinds, too
 */
export function machinePoolFixture({
  clusterApi = "cluster-api",
  docker,
  ...options
}: {
  milliseconds?: number;
  clusterApi?: "cluster-api" | "cluster-api-newer";
  docker?: DockerFaults;
} = {}): MachinePoolFixture {
  const made = {} as { -readonly [Key in keyof MachinePoolFixture]: MachinePoolFixture[Key] };
  before(async function () {
    this.timeout(SET_UP_MILLISECONDS);
    made.toolchain = await ensureToolchain(
      {
        programs: [
          "pulumi",
          "language-nodejs",
          clusterApi,
          ...(docker ? (["cluster-api-docker"] as const) : []),
        ],
        kubernetes: [KUBERNETES_VERSION],
      },
      createReporter(),
    );
    made.capi = await new CapiFixture({
      programs: apiPrograms(made.toolchain),
      manager: made.toolchain.program(clusterApi),
      ...(docker && { docker: { ...docker, program: made.toolchain.program("cluster-api-docker") } }),
      ...options,
    }).start();
    made.folder = makeCompiledClone();
    made.stack = await poolStack(made, "test");
  });
  after(async () => {
    await made.capi?.stop();
    if (made.folder) removeFolder(made.folder);
  });
  return made;
}

/** A further stack in the same environment. @param seconds deadline of one command; default: that of every stack */
export async function poolStack(
  { capi, folder, toolchain }: Pick<MachinePoolFixture, "capi" | "folder" | "toolchain">,
  name: string,
  seconds?: number,
): Promise<TestStack> {
  const ref = { folder, project: "foresail", stack: name, ...(seconds && { seconds }) };
  const stack = await new TestStack(ref, toolchain).create();
  await stack.setSecret("managementKubeconfig", capi.api.kubeconfig());
  return stack;
}

/** The values of a stack's configuration: a pool of the sandbox's own providers, with some fields replaced. */
export function poolConfiguration(
  fields: Fields = {},
  infrastructure: Fields = {},
  config: Fields = {},
): Fields {
  return {
    system: "machine-pool",
    machinePool: {
      name: "pool-a",
      namespace: CLUSTER.namespace,
      cluster: CLUSTER.name,
      replicas: 0,
      version: "1.29.4",
      bootstrap: {
        config: {
          apiVersion: "bootstrap.cluster.x-k8s.io/v1beta1",
          kind: "SandboxConfig",
          spec: {},
          ...config,
        },
      },
      infrastructure: {
        apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
        kind: "SandboxMachinePool",
        spec: { template: { flavor: "small" } },
        ...infrastructure,
      },
      // longer than the half minute after which Cluster API looks at counts again
      timeouts: timeoutsOf(60),
      ...fields,
    },
  };
}

/** Returns a pool's deadlines in seconds: the same for all phases, but for those given. */
export const timeoutsOf = (seconds: number, over: Record<string, number> = {}): Record<string, number> => ({
  bootstrapSeconds: seconds,
  infrastructureSeconds: seconds,
  nodesSeconds: seconds,
  deletionSeconds: seconds,
  ...over,
});

/** An `up` that has to wait for the infrastructure: its controller is away, so for a while the pool says what was true before. */
export async function upWhileProvidersAreAway({
  capi,
  stack,
}: Pick<MachinePoolFixture, "capi" | "stack">): Promise<void> {
  capi.stopProviders();
  const { child, output } = stack.startUp();
  const ended = once(child, "exit");
  await waitFor<void>({
    what: "up to wait for the infrastructure",
    seconds: 60,
    probe: () => {
      assert.equal(child.exitCode, null, output());
      const isSeen = output().includes("machines to be replaced, which are of an earlier template");
      return Promise.resolve(isSeen ? { done: undefined } : { pending: output() });
    },
  }).finally(() => capi.startProviders());
  assert.deepEqual(await ended, [0, null], output());
}
