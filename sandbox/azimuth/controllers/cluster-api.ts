/**
 * Simulates Cluster API (v1beta1) with its kubeadm and OpenStack providers, as far as the objects of the chart
 * openstack-cluster need it: a Cluster becomes Provisioned, its KubeadmControlPlane Ready, Machines with their
 * OpenStackMachines follow the replicas, the kubeconfig's Secret appears; a deleted Cluster disappears once everything
 * it owns is deleted. There are no machines: the kubeconfig points to a target cluster that the sandbox provides.
 */
import { API, CLUSTER_LABEL, COMPONENT_LABEL, NODE_GROUP_LABEL } from "../../../providers/azimuth/plan/names";
import { holdBy, letGo, runController, type Seen, setStatus, type Context } from "./controller";

const FINALIZER = "cluster.cluster.x-k8s.io";
const INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io/v1beta1";
/** How often a waiting object is checked again. */
const RETRY_MILLISECONDS = 150;

type Cluster = Seen<Record<string, unknown>, { phase?: string }>;
type Replicated = Seen<
  { clusterName?: string; replicas?: number; version?: string; template?: { spec?: { version?: string } } },
  Record<string, unknown>
>;

/** @param kubeconfig returns the kubeconfig of the target cluster that represents a Cluster */
export async function runClusterApi(
  around: Context,
  kubeconfig: (namespace: string, cluster: string) => string,
): Promise<void> {
  const { client, faults } = around;

  const listOf = (kind: string, namespace: string, cluster: string, apiVersion: string = API.clusterApi) =>
    client.list<Replicated>({
      apiVersion,
      kind,
      namespace,
      labelSelector: `${CLUSTER_LABEL}=${cluster}`,
    });

  const reconcileCluster = async (cluster: Cluster): Promise<number | undefined> => {
    const { name, namespace, deletionTimestamp } = cluster.metadata;
    if (deletionTimestamp) return end(cluster);
    if (!(await holdBy(client, cluster, FINALIZER))) return undefined;
    const { failed, neverReady } = faults.of("Cluster", cluster.metadata);
    if (failed !== undefined)
      return void (await setStatus(client, cluster, { phase: "Failed", failureMessage: failed }));
    if (cluster.status?.phase === undefined || neverReady)
      return void (await setStatus(client, cluster, { phase: "Provisioning" }));
    await client.apply(
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          name: `${name}-kubeconfig`,
          namespace,
          labels: { "cluster.x-k8s.io/cluster-name": name },
          ownerReferences: [ownerOf(cluster)],
        },
        type: "cluster.x-k8s.io/secret",
        data: { value: Buffer.from(kubeconfig(namespace, name)).toString("base64") },
      },
      { fieldManager: "cluster-api", force: true },
    );
    await setStatus(client, cluster, {
      phase: "Provisioned",
      infrastructureReady: true,
      controlPlaneReady: true,
      conditions: ["Ready", "ControlPlaneInitialized"].map((type) => ({ type, status: "True" })),
    });
    return undefined;
  };

  /** Deletes the cluster's objects, then removes its finalizer. */
  const end = async (cluster: Cluster): Promise<number | undefined> => {
    const { name, namespace } = cluster.metadata;
    const { neverReady } = faults.of("Cluster", cluster.metadata);
    await setStatus(client, cluster, { phase: "Deleting" });
    if (neverReady) return undefined;
    const kinds = [
      ["MachineDeployment", API.clusterApi],
      ["Machine", API.clusterApi],
      ["KubeadmControlPlane", API.controlPlane],
      ["OpenStackMachine", INFRASTRUCTURE],
      ["OpenStackMachineTemplate", INFRASTRUCTURE],
      ["OpenStackCluster", INFRASTRUCTURE],
    ] as const;
    let left = 0;
    for (const [kind, apiVersion] of kinds) {
      for (const { metadata } of await listOf(kind, namespace, name, apiVersion)) {
        left += 1;
        await client.delete({ apiVersion, kind, namespace, name: metadata.name });
      }
    }
    if (left > 0) return RETRY_MILLISECONDS;
    await letGo(client, cluster, FINALIZER);
    return undefined;
  };

  const reconcileControlPlane = async (controlPlane: Replicated): Promise<number | undefined> => {
    const { metadata, spec } = controlPlane;
    const cluster = metadata.labels?.[CLUSTER_LABEL];
    if (cluster === undefined || metadata.deletionTimestamp) return undefined;
    const { version = "v0.0.0", replicas = 1 } = spec;
    await keepMachines(controlPlane, cluster, "control-plane", replicas, version);
    await setStatus(client, controlPlane, {
      version,
      replicas,
      readyReplicas: replicas,
      conditions: ["Ready", "ControlPlaneComponentsHealthy"].map((type) => ({ type, status: "True" })),
    });
    return undefined;
  };

  const reconcileDeployment = async (deployment: Replicated): Promise<number | undefined> => {
    const { metadata, spec } = deployment;
    const cluster = metadata.labels?.[CLUSTER_LABEL];
    if (cluster === undefined || metadata.deletionTimestamp) return undefined;
    const replicas = spec.replicas ?? 1;
    await keepMachines(deployment, cluster, "worker", replicas, spec.template?.spec?.version ?? "v0.0.0");
    await setStatus(client, deployment, { replicas, readyReplicas: replicas, phase: "Running" });
    return undefined;
  };

  /** Keeps one Machine per replica at that version; replaces Machines of other versions. */
  const keepMachines = async (
    owner: Replicated,
    cluster: string,
    component: string,
    replicas: number,
    version: string,
  ): Promise<void> => {
    const { namespace, name } = owner.metadata;
    const hash = version.replace(/[^0-9]/g, "");
    const wanted = Array.from({ length: replicas }, (_, index) => `${name}-${hash}-${index}`);
    const have = (await listOf("Machine", namespace, cluster)).filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid),
    );
    const nodeGroup = owner.metadata.labels?.[NODE_GROUP_LABEL];
    const labels = {
      [CLUSTER_LABEL]: cluster,
      [COMPONENT_LABEL]: component,
      ...(nodeGroup === undefined ? {} : { [NODE_GROUP_LABEL]: nodeGroup }),
    };
    for (const [index, machine] of wanted.entries()) {
      if (have.some(({ metadata }) => metadata.name === machine)) continue;
      const metadata = { name: machine, namespace, labels, ownerReferences: [ownerOf(owner)] };
      const infrastructure = { apiVersion: INFRASTRUCTURE, kind: "OpenStackMachine" };
      await client.apply({ ...infrastructure, metadata, spec: { flavor: "vm.simulated" } });
      await client.apply({
        apiVersion: API.clusterApi,
        kind: "Machine",
        metadata,
        spec: {
          clusterName: cluster,
          version,
          bootstrap: { dataSecretName: machine },
          infrastructureRef: { ...infrastructure, name: machine, namespace },
        },
      });
      const status = {
        phase: "Running",
        addresses: [{ type: "InternalIP", address: `192.168.3.${20 + index}` }],
        conditions: [{ type: "NodeHealthy", status: "True" }],
      };
      const ref = { apiVersion: API.clusterApi, kind: "Machine", namespace, name: machine };
      await client.mergePatch(ref, { status }, { subresource: "status" });
    }
    for (const { metadata } of have) {
      if (wanted.includes(metadata.name)) continue;
      await client.delete({ apiVersion: API.clusterApi, kind: "Machine", namespace, name: metadata.name });
      await client.delete({
        apiVersion: INFRASTRUCTURE,
        kind: "OpenStackMachine",
        namespace,
        name: metadata.name,
      });
    }
  };

  await Promise.all([
    runController<Cluster>(around, {
      apiVersion: API.clusterApi,
      kind: "Cluster",
      reconcile: reconcileCluster,
    }),
    runController<Replicated>(around, {
      apiVersion: API.controlPlane,
      kind: "KubeadmControlPlane",
      reconcile: reconcileControlPlane,
    }),
    runController<Replicated>(around, {
      apiVersion: API.clusterApi,
      kind: "MachineDeployment",
      reconcile: reconcileDeployment,
    }),
  ]);
}

function ownerOf({ apiVersion, kind, metadata: { name, uid } }: Seen) {
  return { apiVersion, kind, name, uid, blockOwnerDeletion: true };
}
