import { KubernetesError, type KubernetesClient, type NewObject } from "../../../lib/kubernetes";
import { waitFor } from "../../../lib/wait";
import { annotationKeys } from "../../../providers/kubeadm/plan/rollout/annotations";
import { awaitNode } from "../await-node";
import { makeGuarded, NAMESPACE, removeGuarded } from "../guarded-deployment";
import type { TestCluster } from "../test-cluster";

/** The label that the cluster's own policy denies, and why. */
export const DENIED = { label: "example.org/tier", value: "nosuch", why: "there is no such tier" };
const NAME = "tiers.example.org";
const DENIAL: readonly NewObject[] = [
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: NAME },
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        resourceRules: [
          { apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["nodes"] },
        ],
      },
      validations: [
        {
          expression: `!("labels" in object.metadata && "${DENIED.label}" in object.metadata.labels)`,
          message: DENIED.why,
        },
      ],
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: NAME },
    spec: { policyName: NAME, validationActions: ["Deny"] },
  },
];
const EFFECT_SECONDS = 60;

/** Makes the cluster deny a label of a Node, as a policy of its own does, and waits until it does. */
export async function denyLabel(client: KubernetesClient, node: string): Promise<void> {
  for (const object of DENIAL) await client.apply(object, { force: true });
  await waitFor<void>({
    what: `the policy ${NAME}`,
    seconds: EFFECT_SECONDS,
    probe: async () => {
      const labelled = {
        apiVersion: "v1",
        kind: "Node",
        metadata: { name: node, labels: { [DENIED.label]: DENIED.value } },
      };
      try {
        await client.apply(labelled, { fieldManager: "foresail-test", dryRun: true });
        return { pending: "the label is allowed" };
      } catch (error) {
        if (error instanceof KubernetesError && error.message.includes(DENIED.why))
          return { done: undefined };
        throw error;
      }
    },
  });
}

export async function allowLabel(client: KubernetesClient): Promise<void> {
  for (const { apiVersion, kind, metadata } of DENIAL) await client.delete({ apiVersion, kind, ...metadata });
}

const STUCK = "stuck";
/** What a run says about the pod that it can't evict. */
export const BLOCKED = new RegExp(`${NAMESPACE}/${STUCK}-\\S+ held: .*disruption budget ${STUCK}`);

/** Starts a pod on a worker that a disruption budget never allows to evict. */
export const blockDrains = (cluster: TestCluster, worker: string): Promise<void> =>
  cluster.withApi((client) =>
    makeGuarded(client, { name: STUCK, replicas: 1, minAvailable: 1, preferred: worker }),
  );

export const unblockDrains = (cluster: TestCluster): Promise<void> =>
  cluster.withApi((client) => removeGuarded(client, STUCK));

const DRIFT = annotationKeys().current("drift");
/** An agent looks once a minute. */
const DRIFT_SECONDS = 180;

/** Changes a file on a machine by hand so that nothing can replace it, and waits until its agent reports that. */
export async function pinFile(
  cluster: TestCluster,
  machine: string,
  file: string,
  edit: string,
): Promise<void> {
  await cluster.onMachine(
    machine,
    `cp --archive ${file} /run/pinned; sed -i '${edit}' ${file}; mount --bind ${file} ${file}`,
  );
  await awaitDrift(cluster, machine, true);
}

export async function unpinFile(cluster: TestCluster, machine: string, file: string): Promise<void> {
  await cluster.onMachine(machine, `umount ${file}; mv /run/pinned ${file}`);
  await awaitDrift(cluster, machine, false);
}

const awaitDrift = (cluster: TestCluster, machine: string, isReported: boolean): Promise<void> =>
  awaitNode(cluster, machine, {
    what: `the report of ${machine}`,
    seconds: DRIFT_SECONDS,
    decide: ({ metadata }) => {
      const report = metadata?.annotations?.[DRIFT];
      return (report !== undefined) === isReported ? undefined : `it reports ${report ?? "nothing"}`;
    },
  });
