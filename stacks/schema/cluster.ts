import { z } from "zod";
import { certificateBundleIssue } from "../../lib/validation/keys";
import { dnsLabelIssue, preflightIssue } from "../../lib/validation/names";
import { imageRepositoryIssue } from "../../providers/kubeadm/plan/validation/source";
import { EndpointConfiguration } from "./endpoint";
import { HostFiles, ProxyConfiguration, RegistriesConfiguration } from "./host";
import { KubeadmPassThrough, KubeletPassThrough, KubeProxyPassThrough } from "./kubeadm";
import { DrainConfiguration, TimeoutsConfiguration } from "./limits";
import { MachineInput } from "./machine";
import { NetworkConfiguration } from "./network";
import { RolloutConfiguration } from "./rollout";
import { anyText, kubernetesVersion, rule } from "./rule";
import { SourceConfiguration } from "./source";
import { SshConfiguration } from "./ssh";

/** Schema of `foresail:cluster` as written, before defaults that depend on other fields. */
export const ClusterInput = z.strictObject({
  name: rule(z.string(), (name) => dnsLabelIssue(name, 40)).describe(
    "Name of the cluster: a DNS label of at most 40 characters.",
  ),
  version: kubernetesVersion().describe(
    'Kubernetes version, "MAJOR.MINOR.PATCH", without a "v"; a change rolls out node by node.',
  ),
  source: SourceConfiguration.prefault({ packages: {} }).describe(
    "Where kubeadm, kubelet and the images come from.",
  ),
  machines: z.array(MachineInput).describe("The machines of the cluster."),
  ssh: SshConfiguration.prefault({}).describe(
    "How the machines are reached, unless a machine says otherwise.",
  ),
  lost: z
    .array(rule(z.string(), (name) => dnsLabelIssue(name)))
    .default([])
    .describe("Names of machines that are dead and were removed from `machines`."),
  allowEvenControlPlanes: z.boolean().default(false).describe("Accept an even number of control planes."),
  endpoint: EndpointConfiguration.prefault({ loopback: {} }).describe("How the nodes reach the API."),
  network: NetworkConfiguration.prefault({}).describe(
    "Addresses of pods and services, and the network plugin.",
  ),
  kubeadm: KubeadmPassThrough.prefault({}).describe("Merged last into kubeadm's own configuration."),
  kubelet: KubeletPassThrough,
  kubeProxy: KubeProxyPassThrough,
  files: HostFiles.default([]).describe("Files written to every machine before init and join."),
  proxy: ProxyConfiguration.optional().describe("HTTP proxy of the machines."),
  registries: RegistriesConfiguration.prefault({}).describe("Image registries, as containerd sees them."),
  imageRepository: rule(z.string(), imageRepositoryIssue)
    .optional()
    .describe("Registry and path that Kubernetes' own images come from."),
  caBundle: rule(z.string(), certificateBundleIssue)
    .optional()
    .describe("PEM certificates that every machine trusts besides its own."),
  encryptSecretsAtRest: z.boolean().default(true).describe("Encrypt Secrets in etcd."),
  ignorePreflightErrors: z
    .array(rule(z.string().min(1), preflightIssue))
    .default([])
    .describe("Preflight checks of kubeadm to ignore."),
  drain: DrainConfiguration.prefault({}).describe(
    "How a node is drained that leaves or changes its version.",
  ),
  rollout: RolloutConfiguration.prefault({}).describe("How a changed version rolls out over the nodes."),
  timeouts: TimeoutsConfiguration.prefault({}).describe("Deadlines of the phases, in seconds."),
  bootstrapRevision: anyText()
    .optional()
    .describe("Any text; a change prepares again the machines that have not joined."),
});

const OWN_MACHINES = { machines: true, lost: true, allowEvenControlPlanes: true, endpoint: true } as const;

/** Fields for existing machines, which systems with pools do not have. */
export const MACHINE_FIELDS = Object.keys(OWN_MACHINES) as (keyof typeof OWN_MACHINES)[];

/** Schema of `foresail:cluster` for systems with pools or groups of machines. */
export const BaseCluster = ClusterInput.omit(OWN_MACHINES);
export type BaseCluster = z.output<typeof BaseCluster>;
