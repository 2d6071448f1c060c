import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { openTumblebug } from "../../providers/tumblebug/client";
import type { SshTarget } from "../../lib/ssh";
import { containerNodeSettings } from "../nodes/container-node-settings";
import { kubeconfigFile, sandboxFolder } from "../paths";
import { SANDBOX_NEEDS } from "../set-up";
import { recordedOutputs } from "../state-file";
import { connectionOf } from "../tumblebug/clouds";
import { chooseSize, forgetSize, keepSize, readSize } from "./cluster-size";
import { kubectlOf, nextCommands, writeKubeconfig } from "./made-cluster";
import { KUBERNETES_VERSION } from "./ssh-configuration";
import { stackOf, type EquippedContext, type RecordedCluster, type DesiredSize, type System } from "./system";
import { tumblebugConfiguration, type TumblebugFixture } from "./tumblebug-configuration";

const NAME = "tumblebug";
const STACK = stackOf({ name: NAME });
const NAMESPACE = "sandbox";
const CIDR = "10.21.0.0/16";

/**
 * The server's options at its first start; the environment can select another generation, more connections, or real
 * waits.
 */
function desired() {
  const { FORESAIL_TUMBLEBUG_GENERATION: generation, FORESAIL_TUMBLEBUG_CONNECTIONS: count } = process.env;
  const connections = [
    connectionOf("aws", "ap-northeast-2"),
    connectionOf("gcp", "asia-northeast1"),
    connectionOf("azure", "koreacentral"),
  ].slice(0, Math.max(1, Number(count ?? 1)));
  return {
    generation: generation === "mcis" ? ("mcis" as const) : ("infra" as const),
    connections,
    bundles: [KUBERNETES_VERSION],
    pace: Number(process.env.FORESAIL_TUMBLEBUG_PACE ?? 0),
  };
}

/** Loads the server's code only when needed, so that `status` and `--help` start faster. */
async function openServer() {
  const { BackgroundServer } = await import("../tumblebug/background-server.js");
  return new BackgroundServer(path.join(sandboxFolder, NAME), NAME);
}

async function startServer({ report }: EquippedContext): Promise<void> {
  await (await openServer()).start(desired(), report);
}

async function start({ report }: EquippedContext, size: DesiredSize): Promise<TumblebugFixture> {
  const chosen = chooseSize(size, await readSize(NAME));
  await keepSize(NAME, chosen);
  const server = await openServer();
  const access = await server.start(desired(), report);
  const settings = await server.settings();
  return {
    size: chosen,
    access,
    generation: settings?.generation ?? "infra",
    connections: (settings?.connections ?? []).map(({ name }) => name),
    cidr: CIDR,
  };
}

interface Outputs {
  readonly kubeconfig?: unknown;
  readonly nodes?: readonly { readonly name: string; readonly role: string }[];
}

async function check(context: EquippedContext, fixture: TumblebugFixture, outputs: Outputs): Promise<void> {
  const { checkCluster } = await import("../check/index.js");
  await checkCluster(context.report, {
    kubeconfig: await readFile(kubeconfigFile(NAME), "utf8"),
    kubeconfigFile: kubeconfigFile(NAME),
    kubectl: kubectlOf(context),
    nodes: (outputs.nodes ?? []).map(({ name }) => name),
    machines: await machinesOf(fixture, NAME, NAMESPACE, "sandbox"),
  });
}

/** Returns the SSH target of each VM of an infrastructure: its address and the key that the server created. */
export async function machinesOf(
  { access, generation }: Pick<TumblebugFixture, "access" | "generation">,
  system: string,
  namespace: string,
  infrastructure: string,
): Promise<SshTarget[]> {
  const tumblebug = await openTumblebug({ ...access, generation });
  try {
    const found = await tumblebug.infrastructures.read(namespace, infrastructure);
    const keys = await tumblebug.sshKeys.list(namespace);
    const hostKeys = await hostKeysOf(system);
    return (found?.machines ?? []).map((machine) => ({
      name: machine.name,
      address: machine.publicAddress ?? "",
      port: machine.sshPort,
      user: machine.user,
      hostKey: hostKeys.get(machine.privateAddress ?? "") ?? "",
      privateKey: keys.find(({ name }) => name === machine.sshKey)?.privateKey ?? "",
    }));
  } finally {
    tumblebug.close();
  }
}

/** Returns the host key of each container node by its address, which is the VM's private one. */
async function hostKeysOf(system: string): Promise<Map<string, string>> {
  const { NodeFleet } = await import("../nodes/index.js");
  const nodes = await new NodeFleet(system).list();
  return new Map(nodes.map(({ internalAddress, hostKey }) => [internalAddress, hostKey]));
}

async function recordedClusters(): Promise<RecordedCluster[]> {
  const outputs = (await recordedOutputs(STACK)) as Outputs | undefined;
  if (outputs === undefined) return [];
  const nodes = (outputs.nodes ?? []).map(({ name, role }) => ({ name, role }));
  return [{ name: "sandbox", kubeconfig: kubeconfigFile(NAME), nodes }];
}

/** VMs that a simulated CB-Tumblebug creates as containers, and a kubeadm cluster on them. */
export const tumblebugSystem: System<TumblebugFixture> = {
  name: NAME,
  summary: "VMs of a simulated CB-Tumblebug in one or several clouds and a kubeadm cluster on them",
  needs: SANDBOX_NEEDS,
  start,
  configure: (fixture) => ({
    values: { system: NAME, ...tumblebugConfiguration(fixture, containerNodeSettings) },
    secrets: {
      tumblebugCredentials: JSON.stringify({
        username: fixture.access.user,
        password: fixture.access.password,
      }),
    },
  }),
  postStart: async (_context, _fixture, outputs) => {
    await writeKubeconfig(NAME, outputs);
  },
  check,
  resume: startServer,
  nextCommands: (context, outputs) =>
    nextCommands(NAME, context, (outputs.nodes ?? []) as { role: string }[]),
  clusters: recordedClusters,
  isStarted: async () => await (await openServer()).isRunning(),
  isGone: async () => (await (await openServer()).settings()) === undefined,
  stop: async () => {
    await (await openServer()).delete();
    await forgetSize(NAME);
    await rm(kubeconfigFile(NAME), { force: true });
  },
};
