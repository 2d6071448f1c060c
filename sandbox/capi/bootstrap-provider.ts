/**
 * Stands in for a bootstrap provider such as Cluster API's own for kubeadm: keeps the same contract, and writes join
 * data into a Secret as soon as the cluster can be joined. The data itself is whatever the machines here understand.
 */
import type { KubernetesClient } from "../../clients/kubernetes";
import { isDeepStrictEqual } from "node:util";
import { Controller } from "./controller";
import {
  BOOTSTRAP_API,
  type Cluster,
  CLUSTER_API,
  CLUSTER_GROUP,
  type Condition,
  CONFIG_KIND,
  FAULT,
  isPaused,
  type MachinePool,
  ownerOfKind,
  type SandboxConfig,
} from "./kinds";

/** Makes the data by which a machine joins. */
export type JoinData = (cluster: string, namespace: string) => Promise<string>;

/** The bootstrap provider's controller on a management cluster. */
export function bootstrapProvider(
  kubernetes: KubernetesClient,
  joinData: JoinData,
  say: (line: string) => void,
): Controller {
  const kinds = [
    { apiVersion: BOOTSTRAP_API, kind: CONFIG_KIND },
    { apiVersion: CLUSTER_API, kind: "MachinePool" },
    { apiVersion: CLUSTER_API, kind: "Cluster" },
  ];
  return new Controller(
    kubernetes,
    kinds,
    async (objects) => {
      const pools = (objects.get("MachinePool") ?? []) as MachinePool[];
      const clusters = (objects.get("Cluster") ?? []) as Cluster[];
      for (const config of (objects.get(CONFIG_KIND) ?? []) as SandboxConfig[])
        await reconcile(kubernetes, config, pools, clusters, joinData);
      return undefined;
    },
    say,
  );
}

async function reconcile(
  kubernetes: KubernetesClient,
  config: SandboxConfig,
  pools: readonly MachinePool[],
  clusters: readonly Cluster[],
  joinData: JoinData,
): Promise<void> {
  const { metadata } = config;
  const owner = ownerOfKind(metadata, "MachinePool");
  if (owner === undefined || metadata.deletionTimestamp !== undefined) return;
  const pool = pools.find((one) => one.metadata.uid === owner.uid);
  const cluster = clusters.find(
    (one) => one.metadata.name === pool?.spec.clusterName && one.metadata.namespace === metadata.namespace,
  );
  if (pool === undefined || cluster === undefined || isPaused(metadata, cluster)) return;
  const missing = whatIsMissing(config, cluster);
  if (missing !== undefined) return writeStatus(kubernetes, config, { ready: false, conditions: [missing] });
  const name = `${metadata.name}-bootstrap`;
  if (config.status?.ready !== true) {
    await kubernetes.apply(
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          name,
          namespace: metadata.namespace,
          labels: { [`${CLUSTER_GROUP}/cluster-name`]: cluster.metadata.name },
          ownerReferences: [
            {
              apiVersion: BOOTSTRAP_API,
              kind: CONFIG_KIND,
              name: metadata.name,
              uid: metadata.uid,
              controller: true,
            },
          ],
        },
        type: `${CLUSTER_GROUP}/secret`,
        data: {
          value: Buffer.from(await joinData(cluster.metadata.name, metadata.namespace)).toString("base64"),
        },
      },
      { fieldManager: "sandbox-bootstrap", force: true },
    );
  }
  await writeStatus(kubernetes, config, {
    ready: true,
    dataSecretName: name,
    conditions: [{ type: "Ready", status: "True" }],
  });
}

function whatIsMissing(config: SandboxConfig, cluster: Cluster): Condition | undefined {
  const notReady = (reason: string, message: string): Condition => ({
    type: "Ready",
    status: "False",
    severity: "Info",
    reason,
    message,
  });
  if (config.metadata.annotations?.[FAULT] === "never-ready")
    return notReady("DataNotMade", "asked to make no data");
  if (cluster.status?.infrastructureReady !== true)
    return notReady("WaitingForClusterInfrastructure", "the cluster's infrastructure is not ready");
  const isInitialized = (cluster.status.conditions ?? []).some(
    ({ type, status }) => type === "ControlPlaneInitialized" && status === "True",
  );
  return isInitialized
    ? undefined
    : notReady("WaitingForControlPlaneAvailable", "the control plane is not initialized");
}

async function writeStatus(
  kubernetes: KubernetesClient,
  config: SandboxConfig,
  wanted: NonNullable<SandboxConfig["status"]>,
): Promise<void> {
  const { generation: observedGeneration, name, namespace } = config.metadata;
  const status = { ...wanted, observedGeneration };
  if (isSameStatus(config.status, status)) return;
  const ref = { apiVersion: BOOTSTRAP_API, kind: CONFIG_KIND, namespace, name };
  await kubernetes.mergePatch(
    ref,
    { status: { ...status, conditions: stamped(status.conditions) } },
    { subresource: "status" },
  );
}

/** Whether a status says the same, whenever it was said. */
export function isSameStatus(
  one: { conditions?: Condition[] } | undefined,
  other: { conditions?: Condition[] },
): boolean {
  const plain = (status: { conditions?: Condition[] } | undefined) => ({
    ...status,
    conditions: (status?.conditions ?? []).map(({ lastTransitionTime: _, ...condition }) => condition),
  });
  return isDeepStrictEqual(plain(one), plain(other));
}

/** Conditions with the time of now. */
export function stamped(conditions: readonly Condition[] = []): Condition[] {
  return conditions.map((condition) => ({ ...condition, lastTransitionTime: new Date().toISOString() }));
}
