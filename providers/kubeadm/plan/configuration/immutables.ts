import { isDeepStrictEqual } from "node:util";
import { differingPaths } from "../../../../lib/differences";
import { differingNames, foreignCertificate } from "./certificate-names";
import { fixedMachineSettings } from "./configuration";
import { keyGeneration } from "../encryption/encryption";
import type { Machine } from "../cluster/machine";
import type { ObservedNode } from "../membership/nodes";
import { areExternal } from "../endpoint/moved-endpoint";
import { printable } from "../../../../lib/text/quote";
import { isKnown, isUnknown } from "../../../../lib/unknown";
import { type ConfigurationPath, formatPath } from "../../../../lib/validation/validation-issue";
import { controlPlaneEndpoint, type ClusterSpecification } from "../cluster/specification";

export interface RefusedChange {
  /** Path in the configuration, as a user writes it. */
  property: string;
  reason: string;
}

/**
 * Refuses changes that a running cluster can't follow, each with the reason and a workaround: settings that are
 * fixed at init, and settings that were written to the machines before they joined.
 *
 * @param olds undefined until the cluster exists; absent fields have the value from before the field existed
 * @param plugins names of the network plugins; in state of older releases, only whether it is the built-in one is known
 */
export function refuseSpecificationChange(
  olds: ClusterSpecification | undefined,
  news: ClusterSpecification,
  plugins: { olds?: string | undefined; news?: string | undefined } = {},
): RefusedChange[] {
  if (!olds) return [];
  const isNamed = plugins.olds !== undefined && plugins.news !== undefined;
  const before = fixedSettings(olds, isNamed ? plugins.olds : undefined);
  const after = fixedSettings(news, isNamed ? plugins.news : undefined);
  const [generation, desired] = [keyGeneration(olds), keyGeneration(news)];
  const fixed = (Object.keys(FIXED_AT_INIT) as (keyof typeof FIXED_AT_INIT)[]).filter(
    (property) =>
      !isUnknown(after[property]) &&
      !isDeepStrictEqual(before[property], after[property]) &&
      // nodes move from one external endpoint to another
      !(property === "endpoint" && areExternal(olds, news)),
  );
  return [
    ...fixed.map((property) => ({
      property: `cluster.${property}`,
      reason:
        `is ${JSON.stringify(before[property])} and can't become ${JSON.stringify(after[property])}: ` +
        `${FIXED_AT_INIT[property]}; set it back, or make a new cluster beside this one`,
    })),
    ...(desired < generation
      ? [
          {
            property: "cluster.encryptionKeyGeneration",
            reason: `is ${generation} and can't become ${desired}: a rotation removes the earlier key, and may have begun; write ${generation}, which the next run completes, or a higher number`,
          },
        ]
      : []),
    // every node agent gets a new source and new ignored preflight errors, so these are not among the settings
    ...notApplied(differingPaths(fixedMachineSettings(olds), fixedMachineSettings(news))),
    ...refuseCertificateNames(olds, news),
  ];
}

/** Refuses other names for API servers whose certificates kubeadm does not write. */
function refuseCertificateNames(olds: ClusterSpecification, news: ClusterSpecification): RefusedChange[] {
  const foreign = foreignCertificate(news.kubeadm.clusterConfiguration);
  if (foreign === undefined) return [];
  return differingNames(olds, news).map((path) => ({
    property: formatPath(["cluster", ...path]),
    reason:
      `can't change while a machine has joined: with ${foreign}, the API servers have a certificate that foresail does not write; ` +
      "put the old value back, or make a new cluster with the new value",
  }));
}

/** The settings that are fixed when a cluster is made, each with the reason. */
const FIXED_AT_INIT = {
  name: "every machine of the cluster is marked with it",
  endpoint: "each machine has its own forwarder to the API servers (loopback), or none",
  "network.podSubnet": "nodes and pods have addresses of it",
  "network.serviceSubnet": "Services and the API servers' certificates have addresses of it",
  "network.dnsDomain": "pods and the API servers' certificates have names in it",
  "network.plugin": "pods that run are in the network of the old plugin",
  encryptSecretsAtRest: "no step encrypts or decrypts the Secrets that are in etcd",
};

/** Returns the settings that are fixed when a cluster is made. */
function fixedSettings(
  { name, endpoint, network, ...others }: ClusterSpecification,
  plugin = network.bridge ? "bridge" : "another than bridge",
): Record<keyof typeof FIXED_AT_INIT, unknown> {
  return {
    name,
    endpoint: controlPlaneEndpoint(endpoint),
    "network.podSubnet": network.podCidr,
    "network.serviceSubnet": network.serviceCidr,
    "network.dnsDomain": network.dnsDomain,
    "network.plugin": plugin,
    encryptSecretsAtRest: others.encryptSecretsAtRest,
  };
}

/** Why a setting can't change once a machine has joined. The first path that a setting begins with counts. */
const REASONS: Readonly<Record<string, string>> = {
  "kubeadm.clusterConfiguration.etcd.local.image":
    "kubeadm gives a member of etcd another image only with another version of Kubernetes",
  "kubeadm.clusterConfiguration.etcd":
    "a member of etcd finds its data, its peers and its certificates by it, and would not come back",
  "kubeadm.clusterConfiguration.certificatesDir": "every control plane has its certificates at the old path",
  "kubeadm.clusterConfiguration.dns":
    "kubeadm installs DNS when a cluster is created or upgraded; edit the Deployment kube-system/coredns instead",
  "kubeadm.clusterConfiguration":
    "kubeadm reads it only when a cluster is created, a machine joins or a version changes",
  "kubeadm.initConfiguration": 'only "kubeadm init" reads it, which has run',
  "kubeadm.joinConfiguration.patches":
    "the static pods of the machines were made with its patches, which an upgrade would undo",
  "kubeadm.joinConfiguration": 'only "kubeadm join" reads it, which has run on these machines',
  "kubelet.cgroupDriver":
    "the kubelet and containerd must have the same one, and the pods that run were started with the old one",
  kubeProxy: "kubeadm did not install kube-proxy (skipPhases), so nothing would read it",
  imageRepository:
    "DNS and kube-proxy would keep the old registry until an upgrade; registries.mirrors changes where images come from",
  "network.holdNodeAddress": "the addresses of etcd's members depend on it",
};

/** A reason contains no values, since they may be secret. */
function notApplied(paths: readonly ConfigurationPath[]): RefusedChange[] {
  return paths.map((path) => {
    const setting = formatPath(path);
    const [, why = "no step applies it"] =
      Object.entries(REASONS).find(([prefix]) => setting.startsWith(prefix)) ?? [];
    return {
      property: formatPath(["cluster", ...path]),
      reason: `can't change while a machine has joined: ${why}; put the old value back, or make a new cluster with the new value`,
    };
  });
}

/** Machines of a group that are in the cluster. */
interface GroupMembers {
  members: readonly string[];
  controlPlanes: boolean;
  /** Machines that were members when the cluster was adopted; undefined where foresail made the cluster. */
  adopted?: readonly string[];
}

/**
 * Refuses a change of joinConfiguration while machines of a group have joined with the old one. The first control plane
 * does not count: `kubeadm init` created it. Adopted machines joined with one of others, but their node agents use the
 * folder of patches.
 */
export function refuseJoinSettings(
  olds: ClusterSpecification | undefined,
  news: ClusterSpecification,
  { members, controlPlanes, adopted }: GroupMembers,
): RefusedChange[] {
  if (!olds) return [];
  const configurationOf = ({ kubeadm }: ClusterSpecification) => kubeadm?.joinConfiguration ?? {};
  const path = ["kubeadm", "joinConfiguration"];
  const paths = differingPaths(configurationOf(olds), configurationOf(news), path);
  const isPatch = (each: ConfigurationPath) => each[path.length] === "patches";
  if (adopted === undefined) return members.length > (controlPlanes ? 1 : 0) ? notApplied(paths) : [];
  const joined = members.filter((name) => !adopted.includes(name));
  return notApplied(paths.filter((each) => joined.length > 0 || (isPatch(each) && members.length > 0)));
}

/**
 * Refuses a Node that has the name of a machine to join and says that it has joined, but has another address: it is
 * another machine, or the Node of one that was replaced.
 *
 * @param olds the machines in the state: their Nodes are known
 */
export function refuseForeignNodes(
  olds: readonly Machine[],
  news: readonly Machine[],
  observed: readonly ObservedNode[] = [],
): RefusedChange[] {
  return news.flatMap(({ name, internalAddress }, index) => {
    const node = observed.find((each) => each.name === name);
    if (!node?.group || node.internalAddress === "" || !isKnown([internalAddress])) return [];
    if (node.internalAddress === internalAddress || olds.some((machine) => machine.name === name)) return [];
    return [
      {
        property: `machines[${index}]`,
        reason:
          `${name}: the cluster has a Node of this name at ${printable(node.internalAddress)}, which is not this machine (${internalAddress}); ` +
          `give the machine another name, or delete that Node if it is dead`,
      },
    ];
  });
}

/**
 * Refuses a change of internal address for a machine that is a Node: kubeadm wrote the old one to certificates, etcd
 * and the kubelet's arguments.
 *
 * @param observed the cluster's Nodes, or undefined when they could not be read: then every recorded machine counts as
 * a Node
 */
export function refuseAddressChange(
  olds: readonly Machine[],
  news: readonly Machine[],
  observed: readonly ObservedNode[] | undefined,
): RefusedChange[] {
  return news.flatMap(({ name, internalAddress }, index) => {
    const before = olds.find((machine) => machine.name === name)?.internalAddress;
    if (before === undefined || before === internalAddress || !isKnown([before, internalAddress])) return [];
    const node = observed?.find((each) => each.name === name);
    if (observed && (node === undefined || node.internalAddress === internalAddress)) return [];
    return [
      {
        property: `machines[${index}].internalAddress`,
        reason:
          `of ${name} is ${JSON.stringify(before)} and can't become ${JSON.stringify(internalAddress)} while the machine is a Node: ` +
          `write internalAddress: ${before}, or take the machine out of the configuration, run \`up\`, then add it with the new address`,
      },
    ];
  });
}
