/**
 * Simulates a bootstrap provider such as Cluster API's kubeadm provider: follows the same contract, and writes join
 * data into a Secret as soon as the cluster can be joined. The format of the data depends on the machines here.
 */
import type { KubernetesClient } from "../../lib/kubernetes";
import { isDeepStrictEqual } from "node:util";
import { Controller } from "./controller";
import {
  type Cluster,
  CLUSTER_API_KINDS,
  CLUSTER_GROUP,
  type Condition,
  FAULT,
  isPaused,
  type MachinePool,
  ownerOfKind,
  type ProviderKind,
  type SandboxConfig,
} from "./kinds";

/** Creates the data with which a machine joins. */
export type JoinData = (cluster: string, namespace: string) => Promise<string>;

/** The bootstrap provider's controller on a management cluster, for one kind of bootstrap objects. */
export function bootstrapProvider(
  kubernetes: KubernetesClient,
  own: ProviderKind,
  joinData: JoinData,
  say: (line: string) => void,
): Controller {
  return new Controller(
    kubernetes,
    [own, ...CLUSTER_API_KINDS],
    async (objects) => {
      const pools = (objects.get("MachinePool") ?? []) as MachinePool[];
      const clusters = (objects.get("Cluster") ?? []) as Cluster[];
      for (const config of (objects.get(own.kind) ?? []) as SandboxConfig[])
        await reconcile({ kubernetes, own, joinData }, config, pools, clusters);
      return undefined;
    },
    say,
  );
}

/** The context for reconciling an object. */
interface Provider {
  readonly kubernetes: KubernetesClient;
  readonly own: ProviderKind;
  readonly joinData: JoinData;
}

async function reconcile(
  provider: Provider,
  config: SandboxConfig,
  pools: readonly MachinePool[],
  clusters: readonly Cluster[],
): Promise<void> {
  const { kubernetes, own, joinData } = provider;
  const { metadata } = config;
  const owner = ownerOfKind(metadata, "MachinePool");
  if (owner === undefined || metadata.deletionTimestamp !== undefined) return;
  const pool = pools.find((one) => one.metadata.uid === owner.uid);
  const cluster = clusters.find(
    (one) => one.metadata.name === pool?.spec.clusterName && one.metadata.namespace === metadata.namespace,
  );
  if (pool === undefined || cluster === undefined || isPaused(metadata, cluster)) return;
  const missing = whatIsMissing(config, cluster);
  if (missing !== undefined) return writeStatus(provider, config, { ready: false, conditions: [missing] });
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
              apiVersion: own.apiVersion,
              kind: own.kind,
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
  await writeStatus(provider, config, {
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
  { kubernetes, own }: Provider,
  config: SandboxConfig,
  wanted: NonNullable<SandboxConfig["status"]>,
): Promise<void> {
  const { generation: observedGeneration, name, namespace } = config.metadata;
  const status = { ...wanted, observedGeneration };
  if (isSameStatus(config.status, status)) return;
  const ref = { apiVersion: own.apiVersion, kind: own.kind, namespace, name };
  await kubernetes.mergePatch(
    ref,
    { status: { ...status, conditions: stamped(status.conditions) } },
    { subresource: "status" },
  );
}

/** Returns whether two statuses are equal apart from their times. */
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

/** Returns the conditions with the current time. */
export function stamped(conditions: readonly Condition[] = []): Condition[] {
  return conditions.map((condition) => ({ ...condition, lastTransitionTime: new Date().toISOString() }));
}
