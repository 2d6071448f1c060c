import { z } from "zod";
import { hostIssue } from "../../lib/validation/addresses";
import { certificateBundleIssue, hostKeyIssue } from "../../lib/validation/keys";
import { dnsLabelIssue, nodeNameIssue, preflightIssue, userNameIssue } from "../../lib/validation/names";
import { SSH_PORT } from "../../lib/validation/ports";
import { RENEW_BEFORE_DAYS } from "../../providers/kubeadm/plan/certificates/report";
import { DEFAULT_DRAIN, DEFAULT_SSH, DEFAULT_TIMEOUTS } from "../../providers/kubeadm/plan/cluster/defaults";
import { PASS_THROUGH, passThroughIssues } from "../../providers/kubeadm/plan/validation/pass-through";
import { PROFILES } from "../../providers/kubeadm/plan/hardening/profile";
import { imageRepositoryIssue } from "../../providers/kubeadm/plan/validation/source";
import { BackupConfiguration } from "./backup";
import { AuthenticationConfiguration } from "./authentication";
import { EndpointConfiguration, NetworkConfiguration } from "./network";
import {
  HostFiles,
  PoolRegistries,
  ProxyConfiguration,
  RegistriesConfiguration,
  SourceConfiguration,
} from "./host";
import type { System } from "./keys";
import { MachineInput } from "./machine";
import { RolloutConfiguration } from "./rollout";
import { anyText, flag, kubernetesVersion, port, rule, rules, seconds, takeOver, text, whole } from "./rule";

/** Returns the schema of a Kubernetes configuration object that is merged last. Refuses fields that foresail sets. */
function passThrough(object: keyof typeof PASS_THROUGH, more = "") {
  const kind = PASS_THROUGH[object];
  return rules(z.record(z.string(), z.unknown()), (value) => passThroughIssues(kind, value))
    .default({})
    .describe(
      `Merged last into the ${kind.kind} (${kind.apiVersion}); fields that this version of Kubernetes does not have are refused.${more}`,
    );
}

export const KubeadmPassThrough = z.strictObject({
  clusterConfiguration: passThrough("clusterConfiguration"),
  initConfiguration: passThrough(
    "initConfiguration",
    " An empty list nodeRegistration.taints leaves the first control plane without its taint, so that it runs pods.",
  ),
  joinConfiguration: passThrough(
    "joinConfiguration",
    " An empty list nodeRegistration.taints leaves control planes that join without their taint.",
  ),
});
export const KubeletPassThrough = passThrough("kubelet");
export const KubeProxyPassThrough = passThrough("kubeProxy");

export const DrainConfiguration = z.strictObject({
  timeoutSeconds: seconds()
    .default(DEFAULT_DRAIN.timeoutSeconds)
    .describe("Deadline of one drain, in seconds."),
  volumeDetachSeconds: whole(0, 3600)
    .default(DEFAULT_DRAIN.volumeDetachSeconds)
    .describe(
      "How long a machine that leaves waits after its drain until its CSI volumes are detached, in seconds; then it is reset all the same.",
    ),
  deleteEmptyDirData: flag(false, "Drain pods with an emptyDir; its data is lost."),
  force: flag(false, "Drain pods that no controller starts again elsewhere."),
});

export const CertificatesConfiguration = z.strictObject({
  renewBeforeDays: whole(0, 300)
    .default(RENEW_BEFORE_DAYS)
    .describe(
      "Days before the first certificate of a control plane ends at which a run renews them all, as a step of the preview; 0 for never.",
    ),
});

export const TimeoutsConfiguration = z.strictObject({
  sshSeconds: seconds().default(DEFAULT_TIMEOUTS.sshSeconds).describe("Until a machine answers SSH."),
  prepareSeconds: seconds().default(DEFAULT_TIMEOUTS.prepareSeconds).describe("Until a machine is prepared."),
  initSeconds: seconds().default(DEFAULT_TIMEOUTS.initSeconds).describe("Until `kubeadm init` is done."),
  joinSeconds: seconds().default(DEFAULT_TIMEOUTS.joinSeconds).describe("Until a machine has joined."),
  readySeconds: seconds().default(DEFAULT_TIMEOUTS.readySeconds).describe("Until a Node is Ready."),
});

export const JumpHostSchema = z.strictObject({
  address: text(hostIssue).describe("Host name or IPv4 address of the jump host."),
  port: port().default(SSH_PORT).describe("Port of SSH on the jump host."),
  user: text(userNameIssue).default(DEFAULT_SSH.user).describe("User that logs in on the jump host."),
  hostKey: rule(
    z.string({
      error: ({ input }) =>
        input === undefined
          ? "is missing: what goes through a jump host must know its key; print it with: ssh-keyscan <address>, and compare it there"
          : undefined,
    }),
    hostKeyIssue,
  ).describe('Public host key that the jump host must show, "ssh-ed25519 AAAA…": `ssh-keyscan` prints it.'),
});

export const SshConfiguration = z.strictObject({
  user: text(userNameIssue)
    .default(DEFAULT_SSH.user)
    .describe("User that logs in: root, or one that may sudo without a password."),
  port: port().default(SSH_PORT).describe("Port of SSH on the machines."),
  jumpHost: JumpHostSchema.optional().describe("Host through which every machine is reached."),
  dialTimeoutSeconds: whole(1, 600)
    .default(DEFAULT_SSH.dialTimeoutSeconds)
    .describe("Deadline of one attempt to connect, in seconds."),
  requireHostKeys: flag(
    DEFAULT_SSH.requireHostKeys,
    "Refuse every first contact: each machine needs a `hostKey`, each OpenStack server one on its console.",
  ),
});

/** Schema of the settings of one pool. */
const PoolConfiguration = z.strictObject({
  kubelet: passThrough("kubelet").describe(
    "Merged over `cluster.kubelet`: maps by field; every other value, lists among them, replaces.",
  ),
  files: HostFiles.default([]).describe(
    "Files besides `cluster.files`, those of the kernel in /etc/sysctl.d and /etc/modules-load.d among them; one at the same path replaces it in this pool.",
  ),
  registries: PoolRegistries.prefault({}).describe(
    "Merged over `cluster.registries`, by registry host and by URL.",
  ),
});

/** Schema of `foresail:cluster` as written, before defaults that depend on other fields. */
export const ClusterInput = z.strictObject({
  name: text((name) => dnsLabelIssue(name, 40)).describe("DNS label of at most 40 characters."),
  version: kubernetesVersion().describe(
    'Kubernetes version, "MAJOR.MINOR.PATCH", without a "v"; a change rolls out node by node.',
  ),
  source: SourceConfiguration.prefault({ packages: {} }).describe(
    "Source of kubeadm, kubelet and the images.",
  ),
  machines: z.array(MachineInput).describe("The machines of the cluster."),
  ssh: SshConfiguration.prefault({}).describe("SSH to the machines, unless a machine has its own settings."),
  adopt: flag(
    false,
    "Take over the kubeadm cluster that the machines are members of, instead of creating one; needs the network plugin `none` and `encryptSecretsAtRest: false`.",
  ),
  resetOnDestroy: flag(
    false,
    "Reset the machines of an adopted cluster on destroy, which otherwise releases them and leaves the cluster running.",
  ),
  deletionProtection: flag(
    false,
    "Refuse to delete the cluster: `pulumi destroy` fails in its preview, until this is off and an `up` has run.",
  ),
  takeOver: takeOver("the cluster", "machines"),
  lost: z
    .array(text(nodeNameIssue))
    .default([])
    .describe("Names of machines that are dead and were removed from `machines`."),
  allowEvenControlPlanes: flag(false, "Accept an even number of control planes."),
  endpoint: EndpointConfiguration.prefault({ loopback: {} }).describe("How the nodes reach the API."),
  network: NetworkConfiguration.prefault({}).describe(
    "Subnets of pods and Services, and the network plugin.",
  ),
  profile: z
    .enum(PROFILES)
    .optional()
    .describe(
      "Settings that harden the cluster, before those of `kubeadm` and `kubelet`: docs/hardening.md.",
    ),
  authentication: AuthenticationConfiguration.prefault({}).describe(
    "Who may log in to the API servers, besides holders of client certificates.",
  ),
  kubeadm: KubeadmPassThrough.prefault({}).describe("Merged last into kubeadm's own configuration."),
  kubelet: KubeletPassThrough,
  kubeProxy: KubeProxyPassThrough,
  files: HostFiles.default([]).describe("Files written to every machine before init and join."),
  proxy: ProxyConfiguration.optional().describe("HTTP proxy of the machines."),
  registries: RegistriesConfiguration.prefault({}).describe("Image registries, as containerd sees them."),
  pools: z
    .record(z.string(), PoolConfiguration)
    .default({})
    .describe(
      'Settings of the machines of one pool, by pool name; the control planes are "control-plane": docs/configuration-changes.md#pools.',
    ),
  imageRepository: text(imageRepositoryIssue)
    .optional()
    .describe("Registry and path that Kubernetes' own images come from."),
  caBundle: text(certificateBundleIssue)
    .optional()
    .describe("PEM certificates that every machine trusts besides its own."),
  encryptSecretsAtRest: flag(true, "Encrypt Secrets in etcd."),
  encryptionKeyGeneration: whole(1)
    .default(1)
    .describe("Generation of the key that encrypts Secrets in etcd; a higher number rotates it."),
  ignorePreflightErrors: z
    .array(rule(z.string().min(1), preflightIssue))
    .default([])
    .describe("Preflight checks of kubeadm to ignore."),
  drain: DrainConfiguration.prefault({}).describe("How a node is drained before its removal or upgrade."),
  certificates: CertificatesConfiguration.optional().describe(
    "When the certificates that kubeadm has signed are renewed.",
  ),
  drift: z
    .enum(["report", "repair"])
    .optional()
    .describe(
      "What to do about files of foresail and kubeadm that others change on a machine: report them in the preview, or put them back with the next `up`. Default: report, by machines whose node agent looks for them.",
    ),
  backup: BackupConfiguration.optional().describe(
    "Keep a snapshot of etcd and of a control plane's files before control planes change: docs/backup.md. Absent: no snapshots.",
  ),
  rollout: RolloutConfiguration.prefault({}).describe("How a changed version rolls out over the nodes."),
  timeouts: TimeoutsConfiguration.prefault({}).describe("Deadlines of the phases, in seconds."),
  bootstrapRevision: anyText()
    .optional()
    .describe("Any text; a change prepares again the machines that have not joined."),
});

export type ClusterInput = z.output<typeof ClusterInput>;

/** Returns the schema of a field of existing machines, which a system with pools or groups of machines does not have. */
const elsewhere = (system: System, what = "the machines") =>
  z
    .undefined({ error: `is not for the system "${system}"; write ${what} under foresail:${system}` })
    .optional();

/** A field that only a stack of existing machines has. */
const onlySsh = z.undefined({ error: 'is only for the system "ssh"; remove it' }).optional();

/** Returns the fields of existing machines for a system with pools or groups of machines. */
export const withoutMachines = (system: System) => ({
  machines: elsewhere(system),
  adopt: onlySsh,
  resetOnDestroy: onlySsh,
  lost: elsewhere(system),
  allowEvenControlPlanes: elsewhere(system),
  endpoint: elsewhere(system, "it"),
});

/** Fields for existing machines, which systems with pools do not have. */
export const EXISTING_MACHINE_FIELDS = Object.keys(withoutMachines("openstack"));

/** Returns the schema of `foresail:cluster` for a system with pools or groups of machines. */
export const baseCluster = (system: System) => ClusterInput.extend(withoutMachines(system));
export type BaseCluster = z.output<ReturnType<typeof baseCluster>>;
