import { readJsonObjectOf } from "../../lib/json";
import { FetchedKubeconfig } from "../../lib/kubernetes/fetched-kubeconfig";
import { OWN_TYPES } from "../../lib/pulumi/state";
import type { CertificateSettings } from "../../providers/kubeadm/plan/certificates/report";
import type { Machine } from "../../providers/kubeadm/plan/cluster/machine";
import type { ClusterSpecification } from "../../providers/kubeadm/plan/cluster/specification";
import type { RolloutSettings } from "../../providers/kubeadm/plan/rollout/desired";
import { unsealed } from "./machines-in-state";
import { exportStack } from "./pulumi";

/** What the state has of a cluster's rollouts. */
interface RolloutInState {
  readonly specification: ClusterSpecification;
  readonly machines: readonly Machine[];
  readonly rollout: RolloutSettings;
  readonly certificates?: CertificateSettings;
  readonly kubeconfig: string;
}

/** The cluster of a stack, as its last run recorded it. */
export interface ClusterInState {
  readonly rollout: RolloutInState;
  /** The stack's output; that of the rollout if there is none. */
  readonly kubeconfig: string;
}

/**
 * Returns the kubeadm cluster in a stack's state.
 *
 * @param exported what `pulumi stack export --show-secrets` printed
 * @throws Error when the stack has none
 */
export function clusterInState(exported: string): ClusterInState {
  const { deployment } = readJsonObjectOf("the output of pulumi stack export", exported) as {
    deployment?: { resources?: { type: string; inputs?: unknown; outputs?: unknown }[] };
  };
  const resources = deployment?.resources ?? [];
  const rollout = resources.find(({ type }) => type === `${OWN_TYPES}NodeRollout`)?.inputs;
  if (rollout === undefined) throw new Error("the stack has no kubeadm cluster; run `up` first");
  const inputs = unsealed(rollout) as RolloutInState;
  const outputs = unsealed(resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs ?? {});
  const { kubeconfig } = outputs as { kubeconfig?: unknown };
  const isThere = typeof kubeconfig === "string" && kubeconfig !== "";
  return { rollout: inputs, kubeconfig: isThere ? kubeconfig : inputs.kubeconfig };
}

/** Reads the kubeadm cluster of a stack from its state. @param name of the stack; absent for the one that is selected */
export async function readClusterState(name: string | undefined): Promise<ClusterInState> {
  return clusterInState((await exportStack(name, "--show-secrets")).exported);
}

/** Returns a stack's kubeconfig for a connection: who can write the state must not be able to run a program here. */
export const stackKubeconfig = (text: string): FetchedKubeconfig =>
  new FetchedKubeconfig("the kubeconfig of the stack", text);
