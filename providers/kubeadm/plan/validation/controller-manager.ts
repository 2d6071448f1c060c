import { quoted } from "../../../../lib/text/quote";
import { parseBoolean } from "../../../../lib/validation/boolean";
import { unknownWord } from "../../../../lib/validation/spelling";
import { issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import { argumentsAt } from "../configuration/arguments";
import { parseVersion } from "../rollout/versions";
import { isNewer } from "./known-fields";

/** Controllers with the minors that have them, unless all do (cmd/kube-controller-manager/names). */
const CONTROLLERS: Readonly<Record<string, readonly [first: number, last: number] | undefined>> = {
  ...Object.fromEntries(
    [
      ...["bootstrap-signer", "certificatesigningrequest-approving", "certificatesigningrequest-cleaner"],
      ...["certificatesigningrequest-signing", "clusterrole-aggregation", "cronjob", "daemonset"],
      ...["deployment", "disruption", "endpoints", "endpointslice", "endpointslice-mirroring"],
      ...["ephemeral-volume", "garbage-collector", "horizontal-pod-autoscaler", "job", "namespace"],
      ...["node-ipam", "node-lifecycle", "persistentvolume-attach-detach", "persistentvolume-binder"],
      ...["persistentvolume-expander", "persistentvolume-protection", "persistentvolumeclaim-protection"],
      ...["pod-garbage-collector", "replicaset", "replicationcontroller", "resourceclaim", "resourcequota"],
      ...[
        "service-cidr",
        "serviceaccount",
        "serviceaccount-token",
        "statefulset",
        "storage-version-migrator",
      ],
      ...["taint-eviction", "token-cleaner", "ttl", "ttl-after-finished"],
      ...["validatingadmissionpolicy-status"],
    ].map((name) => [`${name}-controller`, undefined]),
  ),
  "legacy-serviceaccount-token-cleaner-controller": undefined,
  "root-ca-certificate-publisher-controller": undefined,
  "storageversion-garbage-collector-controller": undefined,
  "kube-apiserver-serving-clustertrustbundle-publisher-controller": [32, Infinity],
  "selinux-warning-controller": [32, Infinity],
  "volumeattributesclass-protection-controller": [32, Infinity],
  "device-taint-eviction-controller": [33, Infinity],
  "podcertificaterequest-cleaner-controller": [34, Infinity],
  "podgroup-protection-controller": [36, Infinity],
  "resourcepoolstatusrequest-controller": [36, Infinity],
  "cloud-node-lifecycle-controller": [0, 36],
  "node-route-controller": [0, 36],
  "service-lb-controller": [0, 36],
  // former names, which stay
  ...Object.fromEntries(
    [
      ...["attachdetach", "bootstrapsigner", "clusterrole-aggregation", "cronjob", "csrapproving"],
      ...["csrcleaner", "csrsigning", "daemonset", "deployment", "disruption", "endpoint", "endpointslice"],
      ...["endpointslicemirroring", "ephemeral-volume", "garbagecollector", "horizontalpodautoscaling"],
      ...["job", "legacy-service-account-token-cleaner", "namespace", "nodeipam", "nodelifecycle"],
      ...["persistentvolume-binder", "persistentvolume-expander", "podgc", "pv-protection"],
      ...["pvc-protection", "replicaset", "replicationcontroller", "resource-claim-controller"],
      ...["resourcequota", "root-ca-cert-publisher", "serviceaccount", "serviceaccount-token"],
      ...["statefulset", "storage-version-gc", "svm", "tokencleaner", "ttl", "ttl-after-finished"],
    ].map((name) => [name, undefined]),
  ),
  "cloud-node-lifecycle": [0, 36],
  route: [0, 36],
  service: [0, 36],
};

/** Returns the names that the controller manager of a version accepts; those of all versions without one. */
export function controllersOf(version?: string): string[] {
  const minor = version === undefined ? undefined : parseVersion(version)?.minor;
  return Object.entries(CONTROLLERS).flatMap(([name, range]) =>
    range === undefined || minor === undefined || (range[0] <= minor && minor <= range[1]) ? [name] : [],
  );
}

/** Returns why a controller manager of a version does not start with this list of controllers, "*,-ttl-controller". */
export function controllersIssue(text: string, version: string | undefined): string | undefined {
  // quotation marks are those of CSV; a newer minor may have others
  if (text === "" || /["\r\n]/.test(text) || isNewer(version)) return undefined;
  const known = controllersOf(version);
  const names = text.split(",").map((name) => (name === "*" ? name : name.replace(/^-/, "")));
  const unknown = names.find((name) => name !== "*" && !known.includes(name));
  if (unknown === undefined) return undefined;
  if (controllersOf().includes(unknown))
    return `${quoted(unknown)} is not a controller of Kubernetes ${version}, only of other versions; remove it`;
  if (unknown.trim() !== unknown) return `${quoted(unknown)} has a space; write commas without spaces`;
  return `${quoted(unknown)} ${unknownWord(unknown, known)}`;
}

const ARGUMENTS = "clusterConfiguration.controllerManager.extraArgs";

/**
 * Returns an issue when the controller managers of several control planes would all work at once: each would give out
 * blocks of the pod network by its own count. Paths are relative to the cluster.
 */
export function leaderElectionIssues(
  kubeadm: object | undefined,
  machines: readonly { readonly role?: string | undefined }[],
): ValidationIssue[] {
  const controlPlanes = machines.filter(({ role }) => role === "control-plane").length;
  const list = argumentsAt(kubeadm, ARGUMENTS);
  const index = list.findLastIndex(({ name }) => name === "leader-elect");
  const isOff = parseBoolean(list[index]?.value ?? "") === false;
  return issueAt(
    ["kubeadm", ...ARGUMENTS.split("."), index, "value"],
    isOff && controlPlanes > 1
      ? `"leader-elect" is for one control plane, and there are ${controlPlanes}, whose controller managers would all work at once; remove it`
      : undefined,
  );
}
