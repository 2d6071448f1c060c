import { randomInt } from "node:crypto";
import type { KubernetesClient } from "../../../lib/kubernetes";
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
import { CONTROL_PLANE_GROUP, CONTROL_PLANE_LABELS, type Machine } from "../plan/machine";
import { hasLostRole, taintChanges } from "../plan/membership/nodes";
import { staleMember } from "../plan/membership/quorum";
import { type ClusterSession, nodeReference } from "./cluster-session";
import type { NodeGroupInputs } from "./declarations";
import { awaitHealthyEtcd, etcdMembers, removeEtcdMember } from "./etcd-membership";
import { addCertificateNames, clusterVersion } from "./kubeadm-config";
import { allInParallel, firstReady, noneReady } from "./machines-session";
import { applyNodeSettings, writeSettings } from "./node-settings";
import { observeNode } from "./observed-nodes";

const SHORT_SECONDS = 60;

type Session = ClusterSession<NodeGroupInputs>;

/**
 * Joins machines to a running cluster: control planes one after another, since etcd accepts one new member at a time,
 * workers in parallel. Then waits in parallel until all of them are Ready.
 */
export async function joinAll(session: Session, machines: Machine[]): Promise<void> {
  if (machines.length === 0) return;
  const tokens = new BootstrapTokens(session.kubernetes, `foresail: joins of ${session.resource}`);
  try {
    if (session.inputs.group === CONTROL_PLANE_GROUP) {
      for (const machine of machines) await enter(session, machine, tokens);
      await allInParallel(machines, (machine) => complete(session, machine));
    } else {
      await allInParallel(machines, async (machine) => {
        await enter(session, machine, tokens);
        await complete(session, machine);
      });
    }
  } finally {
    await tokens.revoke();
  }
}

/** Joins one prepared machine to the cluster; a machine that is a member already only registers again if needed. */
async function enter(session: Session, machine: Machine, tokens: BootstrapTokens): Promise<void> {
  const { cluster, inputs, kubernetes } = session;
  await session.assertMayGoOn();
  const answer = await session.run(machine, factsScript(cluster, machine.name), { seconds: SHORT_SECONDS });
  if ((JSON.parse(answer) as MachineFacts).member) return registerAgain(session, machine);
  const started = Date.now();
  await clearCutOffJoin(session, machine);
  const secrets = machine.role === "control-plane" ? await controlPlaneSecrets(session, machine) : undefined;
  const version = (await clusterVersion(kubernetes)) ?? inputs.specification.version;
  const specification = { ...inputs.specification, version };
  const data = joinData({
    configuration: joinConfiguration(specification, machine, await tokens.token()),
    discovery: discoveryKubeconfig(specification, certificateAuthority(inputs.kubeconfig)),
    secrets,
  });
  const script = joinScript(specification, machine.name, machine.role);
  await session.run(machine, script, { seconds: inputs.timeouts.join, data });
  session.progress(`${machine.name} joined, ${Math.round((Date.now() - started) / 1000)} s`);
}

/** Waits for one member to become Ready and labels it: the group's label comes last and marks a complete join. */
async function complete(session: Session, machine: Machine): Promise<void> {
  const { inputs } = session;
  await session.untilNode(
    machine.name,
    `Node ${machine.name} to be Ready`,
    inputs.timeouts.ready,
    (object) => {
      if (!object) return { pending: "it has not registered" };
      const { ready, reason = "the kubelet has not reported" } = observeNode(object);
      return ready ? { done: undefined } : { pending: reason };
    },
  );
  await applyNodeSettings(session, machine);
  session.progress(`${machine.name} is Ready`);
}

/**
 * Restarts the kubelet of a member whose Node was deleted, so that it registers again. A control plane gets its role
 * back before it is Ready, so that no workload is scheduled to it.
 */
async function registerAgain(session: Session, machine: Machine): Promise<void> {
  const { name } = machine;
  if (!(await session.kubernetes.get(nodeReference(name)))) {
    await session.run(machine, registerScript(session.cluster, name), { seconds: SHORT_SECONDS });
    const { ready } = session.inputs.timeouts;
    await session.untilNode(name, `Node ${name} to register`, ready, (object) =>
      object ? { done: undefined } : { pending: "it has not registered" },
    );
  }
  await writeSettings(session, name, (node) =>
    hasLostRole(machine, node) ? { labels: CONTROL_PLANE_LABELS, taints: taintChanges(machine, node) } : {},
  );
}

/** Removes what an interrupted join left in the cluster: its Node, and for a control plane its etcd member. */
async function clearCutOffJoin(session: Session, machine: Machine): Promise<void> {
  const { kubernetes, inputs } = session;
  const node = await kubernetes.getNode(machine.name);
  if (node) {
    const { internalAddress } = observeNode(node);
    if (internalAddress !== "" && internalAddress !== machine.internalAddress)
      throw new Error(
        `the cluster has a Node ${machine.name} at ${internalAddress}, which is not this machine (${machine.internalAddress}); give the machine another name, or delete that Node if it is dead`,
      );
    await kubernetes.delete(nodeReference(machine.name));
  }
  if (machine.role !== "control-plane") return;
  const { living, members } = await etcdMembers(session, inputs.controlPlanes);
  const stale = staleMember(members, machine);
  if (stale) await removeEtcdMember(session, living, stale);
}

/**
 * Waits until etcd accepts a new control plane, whose addresses the certificates of the API servers then include.
 * Returns the shared keys of the control planes, read from a ready one.
 */
async function controlPlaneSecrets(session: Session, machine: Machine): Promise<string> {
  const { controlPlanes } = session.inputs;
  await awaitHealthyEtcd(session, machine.name);
  await addCertificateNames(session.kubernetes, certificateNames(machine));
  const living = await firstReady(controlPlanes);
  if (!living) throw new Error(noneReady(controlPlanes));
  const script = controlPlaneSecretsScript(session.cluster, living.name);
  return (await session.run(living, script, { seconds: SHORT_SECONDS })).trim();
}

const TOKEN_MINUTES = 15;
const TOKEN_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

const randomWord = (length: number) =>
  Array.from({ length }, () => TOKEN_LETTERS[randomInt(TOKEN_LETTERS.length)]).join("");

function tokenReference(id: string) {
  return { apiVersion: "v1", kind: "Secret", namespace: "kube-system", name: `bootstrap-token-${id}` };
}

/**
 * Bootstrap tokens of one run, valid for 15 minutes each. They are created through the API in kubeadm's form, passed to
 * joining machines on standard input, and deleted at the end.
 */
export class BootstrapTokens {
  private current?: Promise<{ text: string; madeAt: number }>;
  private readonly made: string[] = [];

  constructor(
    private readonly kubernetes: KubernetesClient,
    private readonly purpose: string,
  ) {}

  /** Returns a token with more than half of its lifetime left. */
  async token(): Promise<string> {
    const token = await this.current;
    if (token && Date.now() - token.madeAt < (TOKEN_MINUTES / 2) * 60_000) return token.text;
    return (await (this.current = this.mint())).text;
  }

  /** Deletes every token of the run. */
  async revoke(): Promise<void> {
    await Promise.all(this.made.splice(0).map((id) => this.kubernetes.delete(tokenReference(id))));
    this.current = undefined;
  }

  private async mint() {
    const [id, secret, madeAt] = [randomWord(6), randomWord(16), Date.now()];
    // recorded before the call: even if the response is lost, the token may exist
    this.made.push(id);
    const { apiVersion, kind, ...metadata } = tokenReference(id);
    await this.kubernetes.create({
      apiVersion,
      kind,
      metadata,
      type: "bootstrap.kubernetes.io/token",
      stringData: {
        description: this.purpose,
        "token-id": id,
        "token-secret": secret,
        expiration: new Date(madeAt + TOKEN_MINUTES * 60_000).toISOString(),
        "usage-bootstrap-authentication": "true",
        "usage-bootstrap-signing": "true",
        "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
      },
    });
    return { text: `${id}.${secret}`, madeAt };
  }
}
