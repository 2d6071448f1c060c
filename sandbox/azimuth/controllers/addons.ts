/**
 * Simulates cluster-api-addon-provider (group addons.stackhpc.com): HelmRelease and Manifests are labelled, owned by
 * the Cluster API's Cluster, wait for it and become Deployed. The objects of Manifests are actually applied in the
 * target cluster, with the annotations that Helm sets; a HelmRelease installs nothing.
 */
import { parseAllDocuments } from "yaml";
import type { KubernetesClient, KubernetesObject, NewObject } from "../../../lib/kubernetes";
import {
  ADDON_CLUSTER_LABEL,
  API,
  RELEASE_NAME_LABEL,
  RELEASE_NAMESPACE_LABEL,
} from "../../../providers/azimuth/plan/names";
import { holdBy, letGo, type Seen, refTo, runController, setStatus, type Context } from "./controller";

const FINALIZER = "addons.stackhpc.com/finalizer";
/** How often an addon that waits for its cluster checks again; the real provider waits 15 s. */
const RETRY_MILLISECONDS = 250;

interface AddonSpec {
  clusterName: string;
  bootstrap?: boolean;
  targetNamespace: string;
  releaseName?: string;
  manifestSources?: { secret?: { name: string }; configMap?: { name: string }; template?: string }[];
}
type Addon = Seen<AddonSpec, { phase?: string; revision?: number; observedGeneration?: number }>;
type CapiCluster = Seen<object, { conditions?: { type: string; status: string }[] }>;

/** @param target returns a connection to the target cluster of an addon, if available */
export async function runAddons(
  around: Context,
  target: (namespace: string, cluster: string) => Promise<KubernetesClient | undefined>,
): Promise<void> {
  const { client, faults } = around;

  const clusterOf = (addon: Addon) =>
    client.get<CapiCluster & KubernetesObject>({
      apiVersion: API.clusterApi,
      kind: "Cluster",
      namespace: addon.metadata.namespace,
      name: addon.spec.clusterName,
    });

  const reconcile = async (addon: Addon): Promise<number | undefined> => {
    const { namespace, name, deletionTimestamp, generation } = addon.metadata;
    const cluster = await clusterOf(addon);
    if (deletionTimestamp) {
      if (cluster && !cluster.metadata.deletionTimestamp) {
        await setStatus(client, addon, { phase: "Uninstalling" });
        await eachManifest(addon, async (api, object) => void (await api.delete(refOfObject(object))));
      }
      return void (await letGo(client, addon, FINALIZER));
    }
    if (!(await holdBy(client, addon, FINALIZER))) return undefined;
    const { failed, neverReady } = faults.of(addon.kind, addon.metadata);
    if (failed !== undefined)
      return void (await setStatus(client, addon, { phase: "Failed", failureMessage: failed }));
    if (addon.status?.phase === undefined || neverReady)
      return void (await setStatus(client, addon, { phase: "Pending" }));
    if (!cluster) return RETRY_MILLISECONDS;
    if (addon.metadata.labels?.[ADDON_CLUSTER_LABEL] === undefined) {
      const { apiVersion, kind, metadata } = { ...cluster, apiVersion: API.clusterApi, kind: "Cluster" };
      await client.mergePatch(refTo(addon), {
        metadata: {
          labels: {
            [ADDON_CLUSTER_LABEL]: addon.spec.clusterName,
            [RELEASE_NAMESPACE_LABEL]: addon.spec.targetNamespace,
            [RELEASE_NAME_LABEL]: addon.spec.releaseName ?? name,
          },
          ownerReferences: [
            ...(addon.metadata.ownerReferences ?? []),
            { apiVersion, kind, name: metadata.name, uid: metadata.uid, blockOwnerDeletion: true },
          ],
        },
      });
      return undefined;
    }
    const wanted = addon.spec.bootstrap ? ["ControlPlaneInitialized"] : ["Ready", "Available"];
    const isThere = cluster.status?.conditions?.some(
      ({ type, status }) => wanted.includes(type) && status === "True",
    );
    if (!isThere) return RETRY_MILLISECONDS;
    if (addon.status.phase === "Deployed" && addon.status.observedGeneration === generation) return undefined;
    await setStatus(client, addon, { phase: addon.status.revision ? "Upgrading" : "Installing" });
    const api = await target(namespace, addon.spec.clusterName);
    if (!api) throw new Error("the target cluster can't be reached yet");
    const targetNamespace = { name: addon.spec.targetNamespace };
    await api.apply({ apiVersion: "v1", kind: "Namespace", metadata: targetNamespace });
    const resources: object[] = [];
    await eachManifest(addon, async (api, object) => {
      await api.apply(object, { fieldManager: "helm", force: true });
      resources.push(refOfObject(object));
    });
    await setStatus(client, addon, {
      phase: "Deployed",
      revision: (addon.status.revision ?? 0) + 1,
      observedGeneration: generation,
      resources,
    });
    around.say(`${addon.kind} ${namespace}/${name}: deployed`);
    return undefined;
  };

  const eachManifest = async (
    addon: Addon,
    work: (api: KubernetesClient, object: NewObject) => Promise<void>,
  ): Promise<void> => {
    const { spec, metadata } = addon;
    const texts: string[] = [];
    for (const { secret, configMap, template } of spec.manifestSources ?? []) {
      const named = secret ?? configMap;
      if (template !== undefined) texts.push(template);
      if (!named) continue;
      const kind = secret ? "Secret" : "ConfigMap";
      const source = await client.get<{ data?: Record<string, string> }>({
        apiVersion: "v1",
        kind,
        namespace: metadata.namespace,
        name: named.name,
      });
      for (const text of Object.values(source?.data ?? {}))
        texts.push(secret ? Buffer.from(text, "base64").toString("utf8") : text);
    }
    const objects = texts
      .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as NewObject | null))
      .filter((object) => object !== null);
    if (objects.length === 0) return;
    const api = await target(metadata.namespace, spec.clusterName);
    if (!api) throw new Error("the target cluster can't be reached yet");
    const namespace = spec.targetNamespace;
    for (const object of objects) {
      await work(api, {
        ...object,
        metadata: {
          namespace,
          ...object.metadata,
          annotations: {
            ...object.metadata.annotations,
            "meta.helm.sh/release-name": spec.releaseName ?? metadata.name,
            "meta.helm.sh/release-namespace": namespace,
          },
        },
      });
    }
  };

  await Promise.all(
    ["HelmRelease", "Manifests"].map((kind) =>
      runController<Addon>(around, { apiVersion: API.addons, kind, reconcile }),
    ),
  );
}

function refOfObject({ apiVersion, kind, metadata }: NewObject) {
  return {
    apiVersion,
    kind,
    name: metadata.name,
    ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
  };
}
