import { isObject } from "../../../../lib/json";
import { foreignOwner } from "../../../../lib/ownership/owner";
import { listed, printable } from "../../../../lib/text/quote";
import { poolNameIssue } from "../../../../lib/validation/names";
import { issueLines } from "../../../../lib/validation/validation-issue";
import type { AdoptableCluster, AdoptableNode, MatchedMachine } from "./adoption-facts";
import { adoptedEndpoint, membershipIssues, nodeIssues } from "./adoption";
import { adoptabilityIssues } from "./adoptable-cluster";
import { lostNotes, patchOffers } from "./adoption-losses";
import { TAKE_OVER_FIELD } from "../facts/ownership";
import { STATIC_POD_SETTINGS } from "../configuration/configuration";
import { withoutV } from "../rollout/observed";
import { DEFAULT_NETWORK, DEFAULT_POOL } from "../cluster/defaults";

/** The draft is for a stack that does not exist yet, so that nothing belongs to it. */
const NO_STACK = { stack: "" };

/** A stack that adopts a cluster, as far as a stack file can say it. */
export interface AdoptionDraft {
  /** `foresail:cluster`. */
  cluster: Readonly<Record<string, unknown>>;
  /** Each thing that the stack file can't say, with what will happen to it. */
  notes: readonly string[];
  /** Comments for the stack file: kubeadm's patches that keep what is on single machines. */
  offers: readonly string[];
  /** What a person has to change first: an `up` with this file is refused. */
  refusals: readonly string[];
}

/**
 * Returns the stack that adopts a cluster. Texts of the cluster are printable in the notes, and as they are in the file.
 *
 * @param name of the new stack's cluster
 * @param apiServer host:port by which the operator's kubeconfig reaches the API
 */
export function draftAdoption(args: {
  name: string;
  cluster: AdoptableCluster;
  matched: readonly MatchedMachine[];
  user: string;
  apiServer: string;
}): AdoptionDraft {
  const { name, cluster, matched, user, apiServer } = args;
  const made = cluster.clusterConfiguration ?? {};
  const networking = isObject(made.networking) ? made.networking : {};
  const source = sourceOf(matched);
  const endpoint = adoptedEndpoint(cluster);
  const [host = "", port] = endpoint === undefined ? [] : splitEndpoint(endpoint);
  const planes = matched.filter(({ node }) => node.controlPlane);
  const draft = {
    name,
    version: versionOf(cluster),
    adopt: true,
    encryptSecretsAtRest: false,
    source,
    ...(planes.length % 2 === 0 ? { allowEvenControlPlanes: true } : {}),
    ssh: { user },
    endpoint: { external: { host, port } },
    network: {
      ...differing("podSubnet", networking),
      ...differing("serviceSubnet", networking),
      ...differing("dnsDomain", networking),
      plugin: { none: {} },
    },
    ...(typeof made.imageRepository === "string" && made.imageRepository !== "registry.k8s.io"
      ? { imageRepository: made.imageRepository }
      : {}),
    ...(cluster.kubelet?.cgroupDriver === "cgroupfs" ? { kubelet: { cgroupDriver: "cgroupfs" } } : {}),
    machines: matched.map((machine) => machineEntry(machine, planes.length === 1 ? apiServer : undefined)),
  };
  const lost = lostNotes(matched);
  return {
    cluster: draft,
    notes: [...notesOf(cluster, matched), ...lost],
    offers: patchOffers(matched),
    refusals: refusalsOf(args, source, endpoint),
  };
}

function splitEndpoint(endpoint: string): [host: string, port: number] {
  const at = endpoint.lastIndexOf(":");
  return [endpoint.slice(0, at), Number(endpoint.slice(at + 1))];
}

/** Returns a block of the network, if it is not the default. */
function differing(field: keyof typeof DEFAULT_NETWORK, networking: Readonly<Record<string, unknown>>) {
  const value = networking[field];
  return typeof value === "string" && value !== DEFAULT_NETWORK[field] ? { [field]: value } : {};
}

/** Returns the cluster's own version: in the middle of an upgrade, Nodes that are older follow with the first `up`. */
function versionOf({ clusterConfiguration, nodes }: AdoptableCluster): string {
  const version = clusterConfiguration?.kubernetesVersion;
  return typeof version === "string" ? withoutV(version) : (nodes[0]?.version ?? "");
}

function sourceOf(matched: readonly MatchedMachine[]) {
  return matched.some(({ facts }) => facts.kubelet === "/usr/local/bin/kubelet")
    ? { bundle: { path: "/opt/foresail/bundle/v{version}" } }
    : { packages: { repository: "https://pkgs.k8s.io/core:/stable:/v{minor}/deb/" } };
}

function machineEntry({ node, address, port, hostKey }: MatchedMachine, apiServer: string | undefined) {
  const { name, controlPlane, internalAddress } = node;
  const pool = poolOf(node);
  return {
    name,
    role: controlPlane ? "control-plane" : "worker",
    ...(controlPlane || pool === DEFAULT_POOL ? {} : { pool }),
    address,
    ...(port === 22 ? {} : { port }),
    hostKey,
    ...(internalAddress === address ? {} : { internalAddress }),
    ...(controlPlane && apiServer !== undefined && apiServer !== `${address}:6443` ? { apiServer } : {}),
  };
}

/** Returns the pool of a worker: its role's label, so that adopting adds no other one. */
function poolOf({ roles }: AdoptableNode): string {
  return roles.find((role) => poolNameIssue(role) === undefined) ?? DEFAULT_POOL;
}

const NETWORKS = ["calico", "cilium", "flannel", "weave", "kube-router", "antrea", "canal"];

function notesOf(cluster: AdoptableCluster, matched: readonly MatchedMachine[]): string[] {
  const { clusterConfiguration: made = {}, nodes, systemPods, staticPods, kubeProxy } = cluster;
  const has = (word: string) => systemPods.some((pod) => pod.includes(word));
  const network = NETWORKS.filter(has);
  const mounted = hostPaths(made);
  const unnamed = unnamedAddresses(made, matched);
  const versions = [...new Set(nodes.map(({ version }) => version))].sort();
  const unmatched = nodes.filter(({ name }) => !matched.some(({ node }) => node.name === name));
  const keyless = matched.flatMap(({ node, facts }) => (facts.externalAuthority ? [node.name] : []));
  const kubelets = matched.some(({ facts }) => facts.kubelet === "/usr/local/bin/kubelet");
  const note = (condition: boolean, text: string) => (condition ? [text] : []);
  return [
    `network plugin (${network.length > 0 ? listed(network) : "not recognized"}): it stays, and foresail does not manage it`,
    ...note(kubeProxy === undefined, "kube-proxy: the cluster has none; its replacement stays"),
    ...note(
      staticPods.length > 0,
      `static pods that kubeadm did not write (${listed(staticPods)}): they stay; a control plane that joins later has none, so copy their manifests to it after the join`,
    ),
    ...note(
      typeof made.controlPlaneEndpoint !== "string",
      "controlPlaneEndpoint: the cluster has none; workers can join, and kubeadm refuses further control planes",
    ),
    ...note(
      unnamed.length > 0,
      `API servers (${listed(unnamed)}): the certificates that kubeadm made don't name these addresses; write an \`apiServer\` that they name, or add the addresses to certSANs and renew them`,
    ),
    ...note(
      keyless.length > 0,
      `certificate authority: ${listed(keyless)} ${keyless.length === 1 ? "has" : "have"} no /etc/kubernetes/pki/ca.key, so foresail can't create or renew certificates there: renew them where the key is, and a control plane that joins later needs its certificates beforehand`,
    ),
    ...note(
      mounted.length > 0,
      `files that the control planes mount (${listed(mounted)}): they stay; a control plane that joins later needs them under \`files\``,
    ),
    ...note(
      versions.length > 1,
      `versions (${listed(versions)}): the first \`up\` brings every Node to ${printable(versionOf(cluster))}`,
    ),
    ...note(
      kubelets,
      "source.bundle.path: put the folder that each machine has, or will have, with the programs of a version",
    ),
    ...unmatched.map(
      ({ name }) =>
        `Node ${printable(name)}: not in the file; nothing is done to it, and versions don't change on it`,
    ),
    "labels, taints, containerd's configuration, kubelet flags: they stay on the machines that are adopted",
  ];
}

/**
 * Returns the addresses of several control planes that are not in their certificates, so that their API servers can't be
 * trusted there. The address of a single one comes from the operator's kubeconfig, where it is trusted.
 */
function unnamedAddresses(
  made: Readonly<Record<string, unknown>>,
  matched: readonly MatchedMachine[],
): string[] {
  const planes = matched.filter(({ node }) => node.controlPlane);
  if (planes.length < 2) return [];
  const { certSANs } = isObject(made.apiServer) ? made.apiServer : {};
  const added: readonly unknown[] = Array.isArray(certSANs) ? certSANs : [];
  return planes
    .filter(({ node, address }) => ![node.internalAddress, node.name, ...added].includes(address))
    .map(({ node, address }) => `${node.name} at ${address}`);
}

/** Returns the files and folders of a machine that the static pods mount. */
function hostPaths(made: Readonly<Record<string, unknown>>): string[] {
  return STATIC_POD_SETTINGS.flatMap((component) => {
    const { extraVolumes } = isObject(made[component]) ? made[component] : {};
    return Array.isArray(extraVolumes)
      ? (extraVolumes as unknown[]).flatMap((volume) =>
          isObject(volume) && typeof volume.hostPath === "string" ? [volume.hostPath] : [],
        )
      : [];
  });
}

function refusalsOf(
  { name, cluster, matched }: Parameters<typeof draftAdoption>[0],
  source: ReturnType<typeof sourceOf>,
  endpoint: string | undefined,
): string[] {
  const inspected = matched.map(({ node, facts }) => ({
    machine: {
      name: node.name,
      role: node.controlPlane ? ("control-plane" as const) : ("worker" as const),
      internalAddress: node.internalAddress,
    },
    facts,
  }));
  return [
    ...(cluster.owner ? [foreignOwner("the cluster", cluster.owner, NO_STACK, TAKE_OVER_FIELD)] : []),
    ...issueLines([
      ...membershipIssues(name, inspected, NO_STACK),
      ...nodeIssues(source, inspected, cluster.nodes),
      ...adoptabilityIssues(cluster),
    ]),
    ...(endpoint === undefined
      ? ["endpoint: the cluster has several control planes and no controlPlaneEndpoint"]
      : []),
  ];
}
