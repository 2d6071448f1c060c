import { readFile, rm } from "node:fs/promises";
import { containerNodeSettings } from "../nodes/container-node-settings";
import { nodeKeyFile } from "../nodes/paths";
import { kubeconfigFile } from "../paths";
import { recordedResources } from "../state-file";
import { clusterConfiguration, findLost, KUBERNETES_VERSION, type SshFixture } from "./ssh-configuration";
import { chooseSize, forgetSize, keepSize, planMachines, readSize } from "./cluster-size";
import { kubectlOf, nextCommands, writeKubeconfig } from "./made-cluster";
import { readStackFile } from "./stack-file";
import { SANDBOX_NEEDS } from "../set-up";
import { stackOf, type EquippedContext, type RecordedCluster, type DesiredSize, type System } from "./system";

const NAME = "ssh";
const STACK = stackOf({ name: NAME });

/** Loads the nodes' code only when needed, so that `status` and `--help` start faster. */
async function openFleet() {
  const { NodeFleet } = await import("../nodes/index.js");
  return new NodeFleet(NAME);
}

async function start(context: EquippedContext, desired: DesiredSize): Promise<SshFixture> {
  const fleet = await openFleet();
  const size = chooseSize(desired, await readSize(NAME));
  const planned = planMachines(size);
  const configured = (await recordedClusters()).flatMap((cluster) => cluster.nodes.map((node) => node.name));
  const existing = await fleet.list();
  await refuseLostNodes(
    configured,
    existing.map((node) => node.name),
    planned.map((machine) => machine.name),
  );
  await keepSize(NAME, size);
  const nodes = await fleet.ensure(
    planned.map(({ name, role }) => ({
      name,
      bundles: [KUBERNETES_VERSION],
      dirt: role === "worker" ? (desired.dirt ?? []) : [],
      ...(desired.kind === undefined ? {} : { variant: { kind: desired.kind } }),
    })),
    context.report,
  );
  return {
    machines: planned.map((machine) => {
      const node = nodes.find((each) => each.name === machine.name);
      if (node === undefined) throw new Error(`the machine ${machine.name} was not started`);
      return { ...machine, node };
    }),
    lost: findLost(
      configured,
      planned.map((machine) => machine.name),
      existing.filter((node) => node.running).map((node) => node.name),
    ),
    privateKey: await readFile(nodeKeyFile, "utf8"),
  };
}

/**
 * Rejects machines that were deleted by hand although the cluster still has them: they would come back empty under the
 * name of a member.
 */
async function refuseLostNodes(configured: string[], existing: string[], wanted: string[]): Promise<void> {
  const missing = configured.filter((name) => wanted.includes(name) && !existing.includes(name));
  if (missing.length === 0 || (await recordedResources(STACK)) <= 1) return;
  throw new Error(
    `the machines ${missing.join(", ")} of the cluster were deleted, and their data is lost; ` +
      `start over with: npm stop -- ${NAME} && npm start -- ${NAME}`,
  );
}

async function postStart(
  _context: EquippedContext,
  fixture: SshFixture,
  outputs: Record<string, unknown>,
): Promise<void> {
  await writeKubeconfig(NAME, outputs);
  // only now, because a machine leaves the cluster before it is deleted
  const fleet = await openFleet();
  for (const node of await fleet.list()) {
    if (!fixture.machines.some((machine) => machine.name === node.name)) await fleet.delete(node.name);
  }
}

async function check(context: EquippedContext, fixture: SshFixture): Promise<void> {
  const { checkCluster } = await import("../check/index.js");
  await checkCluster(context.report, {
    kubeconfig: await readFile(kubeconfigFile(NAME), "utf8"),
    kubeconfigFile: kubeconfigFile(NAME),
    kubectl: kubectlOf(context),
    nodes: fixture.machines.map((machine) => machine.name),
    machines: fixture.machines.map(({ name, node }) => ({
      name,
      address: node.address,
      port: node.sshPort,
      user: node.user,
      hostKey: node.hostKey,
      privateKey: fixture.privateKey,
    })),
  });
}

async function recordedClusters(): Promise<RecordedCluster[]> {
  const document = await readStackFile(STACK);
  const cluster = document?.config?.["foresail:cluster"] as
    { name?: string; machines?: { name: string; role: string }[] } | undefined;
  if (cluster === undefined) return [];
  return [
    {
      name: cluster.name ?? "",
      kubeconfig: kubeconfigFile(NAME),
      nodes: (cluster.machines ?? []).map(({ name, role }) => ({ name, role })),
    },
  ];
}

/** A kubeadm cluster on container nodes that answer SSH. */
export const sshSystem: System<SshFixture> = {
  name: NAME,
  summary: "a kubeadm cluster on machines that answer SSH, here containers of this machine",
  needs: SANDBOX_NEEDS,
  start,
  configure: (fixture) => ({
    values: { system: NAME, cluster: clusterConfiguration(fixture, containerNodeSettings) },
    secrets: { sshPrivateKey: fixture.privateKey },
  }),
  postStart,
  check,
  nextCommands: (context, outputs) =>
    nextCommands(NAME, context, (outputs.nodes ?? []) as { role: string }[]),
  clusters: recordedClusters,
  isStarted: async () => (await (await openFleet()).list()).length > 0,
  isGone: async () => (await (await openFleet()).list()).length === 0,
  stop: async ({ report }) => {
    await report.step("delete the machines", async () => (await openFleet()).deleteAll());
    await forgetSize(NAME);
    await rm(kubeconfigFile(NAME), { force: true });
  },
};
