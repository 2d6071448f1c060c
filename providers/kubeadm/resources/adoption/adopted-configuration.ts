import { isDeepStrictEqual } from "node:util";
import { stringify } from "yaml";
import type { KubernetesClient } from "../../../../lib/kubernetes";
import type { JsonObject } from "../../../../lib/merge";
import { below, issueLines, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import { readKubeadmObjects } from "../../client/adoptable";
import { kubeadmConfigMap } from "../../client/kubeadm-object";
import { restartKubeProxyScript } from "../../machine/steps";
import {
  adoptionSettingsScript,
  parseSettingFacts,
  settingsData,
} from "../../machine/adoption/adoption-steps";
import {
  adoptedChange,
  changesMachines,
  MERGED_OBJECTS,
  machineSettingIssues,
  mergedObjects,
  mergeIssues,
  originalObjects,
  parseWritten,
  WRITTEN_SETTINGS,
  type WrittenSettings,
} from "../../plan/adoption/adopted-configuration";
import {
  KUBE_PROXY,
  KUBE_PROXY_CONFIGURATION,
  type KubeProxyDaemonSet,
  kubeProxyIssues,
} from "../../plan/adoption/adopted-kube-proxy";
import { derivedSettingIssues } from "../../plan/adoption/adopted-profile";
import { writtenByEither } from "../../plan/adoption/kept-settings";
import { controlPlanesOf } from "../../plan/cluster/machine";
import type { ClusterSpecification } from "../../plan/cluster/specification";
import { administratorKubeconfig } from "./adoption";
import type { ClusterInitInputs, ConfigurationInputs } from "../declarations";
import { allInParallel, type MachinesSession, readyControlPlane } from "../session/machines-session";

type Session = MachinesSession<ClusterInitInputs>;

/** How long the API may take to answer. */
const API_SECONDS = 20;
/** kubeadm renders the static pods in a few seconds. */
const READ_SECONDS = 60;

/** The ConfigMap and its key in which kubeadm stores an object. */
const STORED = {
  clusterConfiguration: { name: "kubeadm-config", key: "ClusterConfiguration" },
  kubelet: { name: "kubelet-config", key: "kubelet" },
  kubeProxy: KUBE_PROXY_CONFIGURATION,
} as const;

/** Runs the work with a client of the adopted cluster, by the administrator's credentials of a control plane. */
export async function withAdoptedCluster<T>(
  session: MachinesSession<ConfigurationInputs>,
  readsOnly: boolean,
  work: (kubernetes: KubernetesClient) => Promise<T>,
): Promise<T> {
  const kubeconfig = await administratorKubeconfig(session);
  const { KubernetesClient } = await import("../../../../lib/kubernetes/index.js");
  const kubernetes = await KubernetesClient.connect({ kubeconfig }, { seconds: API_SECONDS, readsOnly });
  return work(kubernetes).finally(() => kubernetes.close());
}

/** Reads what a stack's settings are merged into, and what foresail has written over it. */
export async function readMergeable(kubernetes: KubernetesClient) {
  const [objects, record] = await Promise.all([
    readKubeadmObjects(kubernetes),
    kubernetes.get<{ data?: Record<string, string> }>(WRITTEN_SETTINGS),
  ]);
  return { objects, written: parseWritten(record?.data) };
}

/**
 * Returns why the configuration of an adopted cluster can't change: what others configured on a machine, and a change would
 * take away. Only reads.
 *
 * @throws the SSH client's typed errors, KubernetesUnreachable
 */
export async function settingIssuesOf(
  session: Session,
  olds: Pick<ClusterInitInputs, "specification" | "configuration">,
): Promise<ValidationIssue[]> {
  const { machines, specification, adopted = [] } = session.inputs;
  const change = adoptedChange(olds, specification);
  if (!change) return [];
  const { objects, written, daemonSet } = await withAdoptedCluster(session, true, async (kubernetes) => ({
    ...(await readMergeable(kubernetes)),
    daemonSet: change.kubeProxy ? await kubernetes.get<KubeProxyDaemonSet>(KUBE_PROXY) : undefined,
  }));
  const original = originalObjects(objects, written);
  const found = new Map<string, ValidationIssue[]>();
  const members = changesMachines(change) ? machines.filter(({ name }) => adopted.includes(name)) : [];
  await allInParallel(members, async (machine) => {
    const baseline = olds.configuration?.baseline["control-plane"];
    const script = adoptionSettingsScript(olds.specification, specification, machine, baseline);
    const data = machine.role === "control-plane" ? settingsData(original, objects) : "";
    const facts = parseSettingFacts(await session.run(machine, script, { seconds: READ_SECONDS, data }));
    found.set(machine.name, machineSettingIssues(machine.name, facts, specification, original));
  });
  return [
    ...mergeIssues(change, objects),
    ...kubeProxyIssues(change, objects, daemonSet),
    ...derivedSettingIssues(specification, original),
    ...members.flatMap(({ name }) => found.get(name) ?? []),
  ];
}

/**
 * Refuses a changed configuration that would take something away.
 *
 * @throws Error with every issue
 */
export async function assertMergeable(
  session: Session,
  olds: Pick<ClusterInitInputs, "specification" | "configuration">,
): Promise<void> {
  const issues = await settingIssuesOf(session, olds);
  if (issues.length > 0) throw new Error(issueLines(below(["cluster"], issues)).join("\n"));
}

/**
 * Merges the settings into kubeadm's ConfigMaps of an adopted cluster. May be repeated after a kill at any point: what is
 * undone later is recorded before it is written.
 */
export async function writeAdopted(
  kubernetes: KubernetesClient,
  specification: ClusterSpecification,
): Promise<void> {
  const { objects, written } = await readMergeable(kubernetes);
  const merged = mergedObjects(objects, written, specification);
  const after: WrittenSettings = Object.fromEntries(
    MERGED_OBJECTS.map((name) => [name, merged[name]?.written ?? []]),
  );
  const either: WrittenSettings = Object.fromEntries(
    MERGED_OBJECTS.map((name) => [name, writtenByEither(written[name] ?? [], after[name] ?? [])]),
  );
  await record(kubernetes, written, either);
  for (const name of MERGED_OBJECTS) {
    const object = merged[name]?.object;
    if (object && !isDeepStrictEqual(object, objects[name])) await store(kubernetes, name, object);
  }
  await record(kubernetes, either, after);
}

/** Writes what foresail has written, unless it is recorded already. */
async function record(kubernetes: KubernetesClient, before: WrittenSettings, after: WrittenSettings) {
  if (isDeepStrictEqual(before, after)) return;
  const data = Object.fromEntries(MERGED_OBJECTS.map((name) => [name, JSON.stringify(after[name] ?? [])]));
  const { name, namespace, ...type } = WRITTEN_SETTINGS;
  await kubernetes.apply({ ...type, metadata: { name, namespace }, data });
}

async function store(kubernetes: KubernetesClient, name: keyof typeof STORED, object: JsonObject) {
  const { name: configMap, key } = STORED[name];
  // kubeadm reads YAML 1.1, where an unquoted yes, off or 0777 is not a string
  const text = stringify(object, { lineWidth: 0, schema: "yaml-1.1", indentSeq: false });
  await kubernetes.mergePatch(kubeadmConfigMap(configMap), { data: { [key]: text } });
}

/**
 * Restarts kube-proxy through a control plane that is ready. Not only when the ConfigMap was written: a kill may have come
 * before the restart.
 *
 * @throws Error when no control plane is ready
 */
export async function restartKubeProxy(session: MachinesSession<ConfigurationInputs>): Promise<void> {
  const { inputs } = session;
  const machine = await readyControlPlane(controlPlanesOf(inputs.machines));
  await session.run(machine, restartKubeProxyScript, { seconds: inputs.timeouts.init });
}
