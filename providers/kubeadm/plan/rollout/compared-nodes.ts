import { changesCertificate, changesEtcd, changesKubeadm } from "../configuration/configuration";
import { CONFIGURATION } from "./annotations";
import type { NodeRolloutStep } from "../steps";

/** A node whose files a preview compares with its changed configuration. */
export interface ComparedNode {
  machine: string;
  /** Whether the kubeadm on the machine renders what it writes. */
  rendersKubeadm: boolean;
  /** Whether it renders the manifest of etcd, too; absent where etcd's settings stay. */
  rendersEtcd?: true;
  /** Whether its API server gets a certificate with other names; absent where the names stay. */
  createsCertificate?: true;
  /** Version of the kubeadm that comes with the same run, and writes its files instead; absent for the same one. */
  kubeadm?: string;
}

/**
 * Returns the nodes whose configuration a rollout changes. A node that gets another version of Kubernetes as well does not
 * have the kubeadm yet that will write its static pods and its kubelet's configuration.
 */
export function comparedNodes(steps: readonly NodeRolloutStep[]): ComparedNode[] {
  const upgrades = new Map(
    steps.flatMap((step) =>
      step.kind === "upgrade" && step.how.startsWith("kubeadm") ? [[step.machine, step.to] as const] : [],
    ),
  );
  const changes = steps.flatMap((step): { machine: string; from: string; to: string }[] => {
    if (step.kind === "configure") return [step];
    if (step.kind !== "upgrade") return [];
    const { machine, software = [] } = step;
    const change = software.find(({ name }) => name === CONFIGURATION);
    return change ? [{ ...change, machine }] : [];
  });
  // the version of a worker does not have the part of static pods, and what is written for them is written for all
  const changesAny = changes.some(({ from, to }) => changesKubeadm(from, to));
  return changes.map(({ machine, from, to }) => {
    const kubeadm = upgrades.get(machine);
    if (kubeadm !== undefined) return { machine, rendersKubeadm: false, kubeadm };
    return {
      machine,
      rendersKubeadm: changesAny,
      ...(changesEtcd(from, to) ? { rendersEtcd: true as const } : {}),
      ...(changesCertificate(from, to) ? { createsCertificate: true as const } : {}),
    };
  });
}
