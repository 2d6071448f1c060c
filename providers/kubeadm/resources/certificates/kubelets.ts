import { isRequestFor } from "../../../../lib/certificate-request";
import { signClientCertificate } from "../../../../lib/kubernetes/certificate-request";
import { RunInterrupted } from "../../../../lib/process/interruption";
import { EngineGone } from "../../../../lib/process/parent-watch";
import {
  certificateEndsScript,
  kubeletCertificateScript,
  kubeletRequestScript,
} from "../../machine/certificates/certificate-steps";
import { parseReadCertificates } from "../../plan/certificates/expired";
import { kubeletEnded, silentKubelets } from "../../plan/certificates/kubelets";
import type { RolloutNode } from "../../plan/rollout/observed";
import { observeRolloutNode } from "../../plan/rollout/observed";
import type { NodeRolloutStep } from "../../plan/steps";
import type { ClusterSession } from "../session/cluster-session";
import type { NodeRolloutInputs } from "../declarations";
import { allInParallel, failuresOfEach, withMachines } from "../session/machines-session";

/** How long a machine may take to answer a preview. */
const READ_SECONDS = 6;
/** How long the cluster may take to sign. */
const SIGN_SECONDS = 60;

/**
 * Returns the steps for the machines whose kubelets stopped because their certificates have ended. Each is asked over SSH: one
 * that does not answer has no step.
 */
export async function endedKubelets(
  resource: string,
  nodes: readonly RolloutNode[],
  inputs: NodeRolloutInputs,
): Promise<Extract<NodeRolloutStep, { kind: "renewKubelet" }>[]> {
  const now = new Date();
  const silent = silentKubelets(nodes, now);
  const { pausedNodes = [] } = inputs.rollout;
  const machines = inputs.machines.filter(({ name }) => silent.includes(name) && !pausedNodes.includes(name));
  if (machines.length === 0) return [];
  const short = { ...inputs, timeouts: { ...inputs.timeouts, ssh: READ_SECONDS } };
  return withMachines(resource, short, async (session) => {
    const ended = new Map<string, string>();
    await allInParallel(machines, async (machine) => {
      try {
        const answer = await session.run(machine, certificateEndsScript, { seconds: READ_SECONDS });
        const end = kubeletEnded(parseReadCertificates(machine.name, answer).report, now);
        if (end !== undefined) ended.set(machine.name, end);
      } catch (error) {
        if (error instanceof RunInterrupted || error instanceof EngineGone) throw error;
      }
    });
    return machines.flatMap(({ name: machine }) => {
      const end = ended.get(machine);
      return end === undefined ? [] : [{ kind: "renewKubelet" as const, machine, day: end.slice(0, 10) }];
    });
  });
}

/**
 * Gives the kubelets of these machines new certificates, which the cluster signs, and waits until their Nodes are Ready. A
 * machine that fails stops no other one.
 *
 * @returns the failures, which are printed, too
 */
export async function renewKubelets(
  session: ClusterSession<NodeRolloutInputs>,
  names: readonly string[],
): Promise<readonly { text: string }[]> {
  const { cluster, inputs, kubernetes, waiting, progress } = session;
  const machines = inputs.machines.filter(({ name }) => names.includes(name));
  const failures = await failuresOfEach(machines, "renew the certificate of its kubelet", async (machine) => {
    await session.assertMayGoOn();
    const request = await session.run(machine, kubeletRequestScript);
    // root of a machine could otherwise become another node
    if (!isRequestFor({ user: `system:node:${machine.name}`, groups: ["system:nodes"] }, request))
      throw new Error(`${machine.name}: what it asked to sign is not a certificate of its own kubelet`);
    const certificate = await signClientCertificate(kubernetes, {
      request,
      signer: "kubernetes.io/kube-apiserver-client-kubelet",
      reason: `the certificate of the kubelet on ${machine.name} had ended`,
      waitSeconds: SIGN_SECONDS,
      signal: waiting.signal,
    });
    await session.assertMayGoOn();
    await session.run(machine, kubeletCertificateScript(cluster, machine.name), {
      data: `${Buffer.from(certificate).toString("base64")}\n`,
    });
    await session.untilNode(
      machine.name,
      `${machine.name} to be Ready with its new certificate`,
      inputs.timeouts.ready,
      (node) => {
        const { ready, reason } = observeRolloutNode(node ?? {});
        return ready ? { done: undefined } : { pending: reason ?? "its kubelet has not reported" };
      },
    );
    progress(`${machine.name}: its kubelet has a new certificate, and its Node is Ready`);
  });
  for (const { text } of failures) progress(text);
  return failures;
}
