import { quoted } from "../../../../lib/text/quote";
import { unknownWord } from "../../../../lib/validation/spelling";
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
