import { certificateNames, discoveryKubeconfig, joinConfiguration } from "../machine/configuration";
import { certificateAuthority } from "../machine/kubeconfig";
import {
  type MachineFacts,
  controlPlaneSecretsScript,
  factsScript,
  joinData,
  joinScript,
  registerScript,
} from "../machine/steps";
import { CONTROL_PLANE_GROUP, type Machine } from "../plan/machine";
import { staleMember } from "../plan/membership/quorum";
import { allInParallel, livingControlPlane } from "./machines-session";
import type { ClusterSession } from "./cluster-session";
import { clusterVersion, readClusterConfiguration, writeClusterConfiguration } from "./kubeadm-config";
import { awaitHealthyEtcd, etcdMembers, removeEtcdMember } from "./etcd-membership";
import { report } from "../../../lib/pulumi/log";
import type { NodeGroupInputs } from "./inputs";
import {
  applyNodeSettings,
  nodeReference,
  restoreRole,
  waitUntilReady,
  waitUntilRegistered,
} from "./node-settings";
import { observeNode, type NodeObject } from "./observed-nodes";
import { randomInt } from "node:crypto";
import type { KubernetesClient } from "../../../lib/kubernetes";

const SHORT_SECONDS = 60;

/**
 * Joins machines to a running cluster: control planes one after another, since etcd accepts one new member at a time,
 * workers in parallel. Then waits in parallel until all of them are Ready.
 */
export async function joinAll(
  session: ClusterSession,
  inputs: NodeGroupInputs,
  machines: Machine[],
): Promise<void> {
  if (machines.length === 0) return;
  const tokens = new BootstrapTokens(session.kubernetes, `foresail: joins of ${session.resource}`);
  try {
    if (inputs.group === CONTROL_PLANE_GROUP) {
      for (const machine of machines) await enter(session, inputs, machine, tokens);
      await allInParallel(machines, (machine) => complete(session, inputs, machine));
    } else {
      await allInParallel(machines, async (machine) => {
        await enter(session, inputs, machine, tokens);
        await complete(session, inputs, machine);
      });
    }
  } finally {
    await tokens.revoke();
  }
}

/** Joins one prepared machine to the cluster; a machine that is a member already only registers again if needed. */
async function enter(
  session: ClusterSession,
  inputs: NodeGroupInputs,
  machine: Machine,
  tokens: BootstrapTokens,
): Promise<void> {
  await session.assertMayGoOn();
  if (await isMember(session, inputs, machine)) return registerAgain(session, inputs, machine);
  const started = Date.now();
  await clearCutOffJoin(session, inputs, machine);
  if (machine.role === "control-plane") await awaitHealthyEtcd(session, inputs, machine.name);
  const secrets =
    machine.role === "control-plane" ? await controlPlaneSecrets(session, inputs, machine) : undefined;
  const { kubeconfig } = inputs;
  const version = (await clusterVersion(session.kubernetes)) ?? inputs.specification.version;
  const specification = { ...inputs.specification, version };
  const data = joinData({
    configuration: joinConfiguration(specification, machine, await tokens.token()),
    discovery: discoveryKubeconfig(specification, certificateAuthority(kubeconfig)),
    secrets,
  });
  const script = joinScript(specification, machine.name, machine.role);
  await session.run(machine, script, { seconds: inputs.timeouts.join, data });
  report(session.resource, `${machine.name} joined, ${Math.round((Date.now() - started) / 1000)} s`);
}

/** Waits for one member to become Ready and labels it: the group's label comes last and marks a complete join. */
async function complete(session: ClusterSession, inputs: NodeGroupInputs, machine: Machine): Promise<void> {
  await waitUntilReady(session, machine, inputs.timeouts.ready);
  await applyNodeSettings(session, machine, inputs.owned ?? {});
  report(session.resource, `${machine.name} is Ready`);
}

async function isMember(
  session: ClusterSession,
  inputs: NodeGroupInputs,
  machine: Machine,
): Promise<boolean> {
  const script = factsScript(inputs.specification.name, machine.name);
  const facts = JSON.parse(await session.run(machine, script, { seconds: SHORT_SECONDS })) as MachineFacts;
  return facts.member;
}

/**
 * Restarts the kubelet of a member whose Node was deleted, so that it registers again. A control plane gets its role
 * back before it is Ready, so that no workload is scheduled to it.
 */
async function registerAgain(
  session: ClusterSession,
  inputs: NodeGroupInputs,
  machine: Machine,
): Promise<void> {
  if (!(await session.kubernetes.get(nodeReference(machine.name)))) {
    const script = registerScript(inputs.specification.name, machine.name);
    await session.run(machine, script, { seconds: SHORT_SECONDS });
    await waitUntilRegistered(session, machine, inputs.timeouts.ready);
  }
  await restoreRole(session, machine);
}

/** Removes what an interrupted join left in the cluster: its Node, and for a control plane its etcd member. */
async function clearCutOffJoin(
  session: ClusterSession,
  inputs: NodeGroupInputs,
  machine: Machine,
): Promise<void> {
  const cluster = inputs.specification.name;
  const node = await session.kubernetes.get<NodeObject>(nodeReference(machine.name));
  if (node) {
    const { internalAddress } = observeNode(node);
    if (internalAddress !== "" && internalAddress !== machine.internalAddress)
      throw new Error(
        `the cluster has a Node ${machine.name} at ${internalAddress}, which is not this machine (${machine.internalAddress}); give the machine another name, or delete that Node if it is dead`,
      );
    await session.kubernetes.delete(nodeReference(machine.name));
  }
  if (machine.role !== "control-plane") return;
  const { living, members } = await etcdMembers(session, cluster, inputs.controlPlanes);
  const stale = staleMember(members, machine);
  if (stale) await removeEtcdMember(session, cluster, living, stale);
}

/**
 * Returns the shared keys of the control planes, read from a ready one, after their certificates include the new one.
 */
async function controlPlaneSecrets(
  session: ClusterSession,
  inputs: NodeGroupInputs,
  machine: Machine,
): Promise<string> {
  await allowInCertificates(session, machine);
  const living = await livingControlPlane(inputs.controlPlanes);
  const script = controlPlaneSecretsScript(inputs.specification.name, living.name);
  return (await session.run(living, script, { seconds: SHORT_SECONDS })).trim();
}

/** Adds the addresses of a new control plane to the names that kubeadm writes into its certificate. */
async function allowInCertificates(session: ClusterSession, machine: Machine): Promise<void> {
  const configuration = await readClusterConfiguration(session.kubernetes);
  if (!configuration) return;
  const have = configuration.apiServer?.certSANs ?? [];
  const missing = certificateNames(machine).filter((name) => !have.includes(name));
  if (missing.length === 0) return;
  await writeClusterConfiguration(session.kubernetes, {
    ...configuration,
    apiServer: { ...configuration.apiServer, certSANs: [...have, ...missing] },
  });
}

const TOKEN_MINUTES = 15;
const TOKEN_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

function randomWord(length: number): string {
  return Array.from({ length }, () => TOKEN_LETTERS[randomInt(TOKEN_LETTERS.length)]).join("");
}

interface Token {
  id: string;
  secret: string;
  madeAt: number;
}

function reference(id: string) {
  return { apiVersion: "v1", kind: "Secret", namespace: "kube-system", name: `bootstrap-token-${id}` };
}

/**
 * Bootstrap tokens of one run, valid for 15 minutes each. They are created through the API in kubeadm's form, passed to
 * joining machines on standard input, and deleted at the end.
 */
export class BootstrapTokens {
  private current?: Promise<Token>;
  private readonly made: string[] = [];

  constructor(
    private readonly kubernetes: KubernetesClient,
    private readonly purpose: string,
  ) {}

  /** Returns a token with more than half of its lifetime left. */
  async token(): Promise<string> {
    const token = await this.current;
    const fresh = token && Date.now() - token.madeAt < (TOKEN_MINUTES / 2) * 60_000;
    if (!fresh) this.current = this.mint();
    const { id, secret } = await (this.current as Promise<Token>);
    return `${id}.${secret}`;
  }

  /** Deletes every token of the run. */
  async revoke(): Promise<void> {
    await Promise.all(this.made.splice(0).map((id) => this.kubernetes.delete(reference(id))));
    this.current = undefined;
  }

  private async mint(): Promise<Token> {
    const token = { id: randomWord(6), secret: randomWord(16), madeAt: Date.now() };
    // recorded before the call: even if the response is lost, the token may exist
    this.made.push(token.id);
    const { apiVersion, kind, namespace, name } = reference(token.id);
    await this.kubernetes.create({
      apiVersion,
      kind,
      metadata: { namespace, name },
      type: "bootstrap.kubernetes.io/token",
      stringData: {
        description: this.purpose,
        "token-id": token.id,
        "token-secret": token.secret,
        expiration: new Date(token.madeAt + TOKEN_MINUTES * 60_000).toISOString(),
        "usage-bootstrap-authentication": "true",
        "usage-bootstrap-signing": "true",
        "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
      },
    });
    return token;
  }
}
