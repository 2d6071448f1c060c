import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import type { SshTarget } from "../../lib/ssh";
import { containerNodeSettings } from "../nodes/container-node-settings";
import { nodeKeyFile } from "../nodes/paths";
import type { CloudApi } from "../openstack/cloud-api";
import { sandboxCloudFolder } from "../openstack/paths";
import { cloudPaths } from "../openstack/settings";
import { kubeconfigFile } from "../paths";
import { SANDBOX_NEEDS } from "../set-up";
import { recordedOutputs } from "../state-file";
import { chooseSize, forgetSize, keepSize, readSize } from "./cluster-size";
import { openstackConfiguration, type OpenstackFixture } from "./openstack-configuration";
import { KUBERNETES_VERSION } from "./ssh-configuration";
import { kubectlOf, nextCommands, writeKubeconfig } from "./made-cluster";
import { readStackFile } from "./stack-file";
import { stackOf, type EquippedContext, type RecordedCluster, type DesiredSize, type System } from "./system";

const NAME = "openstack";
const STACK = stackOf({ name: NAME });

/** Loads the cloud's code only when needed, so that `status` and `--help` start faster. */
async function openCloud() {
  const { Cloud } = await import("../openstack/cloud.js");
  return new Cloud({ folder: sandboxCloudFolder, system: NAME, bundles: [KUBERNETES_VERSION] });
}

async function startCloud({ toolchain, report }: EquippedContext): Promise<void> {
  await (await openCloud()).start(toolchain.python("openstack"), report);
}

async function start(context: EquippedContext, desired: DesiredSize): Promise<OpenstackFixture> {
  const size = chooseSize(desired, await readSize(NAME));
  await keepSize(NAME, size);
  await startCloud(context);
  const { ensureNodeKey } = await import("../nodes/ssh-keys.js");
  const publicKey = await ensureNodeKey();
  return {
    size,
    cidr: (await configuredCidr()) ?? (await chooseCidr(sandboxCloudFolder, context)),
    key: { private: await readFile(nodeKeyFile, "utf8"), public: publicKey },
  };
}

/** Returns the machines' CIDR of the last start. */
async function configuredCidr(): Promise<string | undefined> {
  const section = (await readStackFile(STACK))?.config?.["foresail:openstack"] as
    { network?: { cidr?: string } } | undefined;
  return section?.network?.cidr;
}

/** Returns a free /24 for the machines of a cloud, the same in every run unless something else takes it. */
export async function chooseCidr(
  cloudFolder: string,
  { report }: Pick<EquippedContext, "report">,
): Promise<string> {
  const { findFreeSubnet } = await import("../nodes/free-subnet.js");
  const { ContainerEngine } = await import("../nodes/engine.js");
  const { seedOf } = await import("../openstack/settings.js");
  return findFreeSubnet(seedOf(path.join(cloudFolder, "machines")), await ContainerEngine.ensure(report));
}

interface Outputs {
  readonly kubeconfig?: unknown;
  readonly nodes?: readonly { name: string; role: string; address: string }[];
  readonly servers?: Readonly<Record<string, string>>;
}

async function postStart(
  _context: EquippedContext,
  _fixture: OpenstackFixture,
  outputs: Outputs,
): Promise<void> {
  await writeKubeconfig(NAME, outputs);
}

async function check(context: EquippedContext, fixture: OpenstackFixture, outputs: Outputs): Promise<void> {
  const { checkCluster } = await import("../check/index.js");
  const api = await (await openCloud()).api("project");
  const nodes = outputs.nodes ?? [];
  await checkCluster(context.report, {
    kubeconfig: await readFile(kubeconfigFile(NAME), "utf8"),
    kubeconfigFile: kubeconfigFile(NAME),
    kubectl: kubectlOf(context),
    nodes: nodes.map(({ name }) => name),
    machines: await Promise.all(
      nodes.map(async ({ name, address }): Promise<SshTarget> => ({
        name,
        address,
        port: 22,
        user: "foresail",
        hostKey: await consoleHostKey(api, outputs.servers?.[name] ?? ""),
        privateKey: fixture.key.private,
      })),
    ),
  });
}

/** Returns the host key that a server printed on its console. */
export async function consoleHostKey(api: CloudApi, server: string): Promise<string> {
  const ask = { "os-getConsoleOutput": {} };
  const { output } = (await api.call("nova", "POST", `/servers/${server}/action`, ask)) as { output: string };
  const shown = /-----BEGIN SSH HOST KEY KEYS-----\n(\S+ \S+)/.exec(output)?.[1];
  if (shown === undefined) throw new Error(`the console of the server ${server} shows no host key`);
  return shown;
}

async function recordedClusters(): Promise<RecordedCluster[]> {
  const outputs = (await recordedOutputs(STACK)) as Outputs | undefined;
  if (outputs === undefined) return [];
  const nodes = (outputs.nodes ?? []).map(({ name, role }) => ({ name, role }));
  return [{ name: "sandbox", kubeconfig: kubeconfigFile(NAME), nodes }];
}

/** Pools of servers of a real OpenStack on this machine, whose servers are containers, and a kubeadm cluster on them. */
export const openstackSystem: System<OpenstackFixture> = {
  name: NAME,
  summary: "pools of OpenStack servers and a kubeadm cluster on them, here in an OpenStack of this machine",
  needs: {
    ...SANDBOX_NEEDS,
    programs: [...SANDBOX_NEEDS.programs, "plugin-openstack"],
    python: ["openstack"],
  },
  environment: { OS_CLIENT_CONFIG_FILE: cloudPaths(sandboxCloudFolder).clouds },
  start,
  configure: (fixture) => ({
    values: { system: NAME, ...openstackConfiguration(fixture, containerNodeSettings) },
    secrets: { sshPrivateKey: fixture.key.private },
  }),
  postStart,
  check,
  resume: startCloud,
  nextCommands: (context, outputs) =>
    nextCommands(NAME, context, (outputs.nodes ?? []) as { role: string }[]),
  clusters: recordedClusters,
  isStarted: async () => (await (await openCloud()).status()).running.length > 0,
  isGone: async () => !(await (await openCloud()).exists()),
  stop: async () => {
    await (await openCloud()).delete();
    await forgetSize(NAME);
    await rm(kubeconfigFile(NAME), { force: true });
  },
};
