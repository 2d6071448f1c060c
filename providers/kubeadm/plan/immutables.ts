import { isDeepStrictEqual } from "node:util";
import { differingPaths } from "../../../lib/differences";
import { differingNames, foreignCertificate } from "./certificate-names";
import { fixedMachineSettings } from "./configuration";
import { keyGeneration } from "./encryption";
import type { Machine } from "./machine";
import type { ObservedNode } from "./membership/nodes";
import { areExternal } from "./moved-endpoint";
import { printable } from "../../../lib/text/quote";
import { isKnown, isUnknown } from "../../../lib/unknown";
import { type ConfigurationPath, formatPath } from "../../../lib/validation/validation-issue";
import { controlPlaneEndpoint, type ClusterSpecification } from "./specification";

export interface Refusal {
  /** Path in the configuration, as a user writes it. */
  property: string;
  reason: string;
}

/**
 * Refuses changes that a running cluster can't follow, each with the reason and a workaround: settings that kubeadm
 * fixed at init, and settings that were written to the machines before they joined.
 *
 * @param olds undefined until the cluster exists; absent fields have the value from before the field existed
 */
export function refuseSpecificationChange(
  olds: ClusterSpecification | undefined,
  news: ClusterSpecification,
): Refusal[] {
  if (!olds) return [];
  const [before, after] = [fixedSettings(olds), fixedSettings(news)];
  const [generation, desired] = [keyGeneration(olds), keyGeneration(news)];
  const fixed = Object.entries(after).filter(
    ([property, value]) =>
      !isUnknown(value) &&
      !isDeepStrictEqual(before[property], value) &&
      // nodes move from one external endpoint to another
      !(property === "endpoint" && areExternal(olds, news)),
  );
  return [
    ...fixed.map(([property, value]) => ({
      property: `cluster.${property}`,
      reason:
        `is ${JSON.stringify(before[property])} and can't become ${JSON.stringify(value)}: ` +
        "kubeadm fixes it when the cluster is made; set it back, or make a new cluster beside this one",
    })),
    ...(desired < generation
      ? [
          {
            property: "cluster.encryptionKeyGeneration",
            reason: `is ${generation} and can't become ${desired}: a rotation removes the earlier key; a higher number rotates to another one`,
          },
        ]
      : []),
    // every node agent gets a new source and new ignored preflight errors, so these are not among the settings
    ...notApplied(differingPaths(fixedMachineSettings(olds), fixedMachineSettings(news))),
    ...refuseCertificateNames(olds, news),
  ];
}

/** Refuses other names for API servers whose certificates kubeadm does not write. */
function refuseCertificateNames(olds: ClusterSpecification, news: ClusterSpecification): Refusal[] {
  const foreign = foreignCertificate(news.kubeadm.clusterConfiguration);
  if (foreign === undefined) return [];
  return differingNames(olds, news).map((path) => ({
    property: formatPath(["cluster", ...path]),
    reason:
      `can't change while a machine has joined: with ${foreign}, the API servers have a certificate that foresail does not write; ` +
      "put the old value back, or make a new cluster with the new value",
  }));
}

/** Returns the settings that kubeadm fixes at init. */
function fixedSettings({
  name,
  endpoint,
  network,
  ...others
}: ClusterSpecification): Record<string, unknown> {
  return {
    name,
    endpoint: controlPlaneEndpoint(endpoint),
    "network.podSubnet": network.podCidr,
    "network.serviceSubnet": network.serviceCidr,
    "network.dnsDomain": network.dnsDomain,
    "network.plugin": network.bridge ? "bridge" : "another than bridge",
    encryptSecretsAtRest: others.encryptSecretsAtRest,
  };
}

/** A reason contains no values, since they may be secret. */
const NOT_APPLIED =
  "can't change while a machine has joined: the machines were prepared with the old value and would keep it; " +
  "put the old value back, or make a new cluster with the new value";

const OF_ETCD =
  "can't change while a machine has joined: a member of etcd finds its data, its peers and its certificates by it, and would not come back; " +
  "put the old value back, or make a new cluster with the new value";

function notApplied(paths: readonly ConfigurationPath[]): Refusal[] {
  const isOfEtcd = (path: ConfigurationPath) =>
    formatPath(path).startsWith("kubeadm.clusterConfiguration.etcd");
  return paths.map((path) => ({
    property: formatPath(["cluster", ...path]),
    reason: isOfEtcd(path) ? OF_ETCD : NOT_APPLIED,
  }));
}

/**
 * Refuses a change of joinConfiguration while machines of a group have joined with the old one. The first control plane
 * does not count: `kubeadm init` created it.
 *
 * @param joined number of the group's machines in the cluster
 */
export function refuseJoinSettings(
  olds: ClusterSpecification | undefined,
  news: ClusterSpecification,
  { joined, controlPlanes }: { joined: number; controlPlanes: boolean },
): Refusal[] {
  if (!olds || joined <= (controlPlanes ? 1 : 0)) return [];
  const configurationOf = ({ kubeadm }: ClusterSpecification) => kubeadm?.joinConfiguration ?? {};
  const path = ["kubeadm", "joinConfiguration"];
  return notApplied(differingPaths(configurationOf(olds), configurationOf(news), path));
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
): Refusal[] {
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
): Refusal[] {
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
