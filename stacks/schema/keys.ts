import type { Renames } from "../../lib/validation/renames";
import { AZIMUTH_RENAMES } from "../../providers/azimuth/plan/validation";
import { CLUSTER_RENAMES } from "../../providers/kubeadm/plan/cluster/defaults";
import { MACHINE_POOL_RENAMES } from "../../providers/machine-pool/plan/manifest";
import { OPENSTACK_RENAMES } from "../../providers/openstack/plan/validation";
import { TUMBLEBUG_RENAMES } from "../../providers/tumblebug/plan/validation";

/** A key of the stack configuration, without the prefix `foresail:`. */
export interface ConfigurationKey {
  type: "string" | "object";
  description: string;
  secret: boolean;
  default?: string;
  /** Old names of fields in it. */
  renames?: Renames;
  /** Systems that read the key. @default all */
  systems?: readonly System[];
}

/** Systems that a stack can have. */
export const SYSTEMS = ["ssh", "openstack", "tumblebug", "azimuth", "machine-pool", "collector"] as const;
export type System = (typeof SYSTEMS)[number];

/** Systems for which foresail itself runs kubeadm on the machines. */
const KUBEADM_SYSTEMS: readonly System[] = ["ssh", "openstack", "tumblebug"];
/** Systems that use objects on a management cluster. */
const MANAGEMENT_SYSTEMS: readonly System[] = ["azimuth", "machine-pool"];

const quotedList = (systems: readonly System[]) => systems.map((system) => `"${system}"`).join(", ");

/** A key whose fields the schemas describe. */
const section = (what: string, renames: Renames, systems: readonly System[]) =>
  ({
    type: "object",
    description: `${what}, for the system${systems.length > 1 ? "s" : ""} ${quotedList(systems)}; every field below.`,
    secret: false,
    renames,
    systems,
  }) as const;

const secret = <Type extends "string" | "object">(
  type: Type,
  description: string,
  systems: readonly System[],
) => ({ type, description, secret: true, systems }) as const;

/** All keys that foresail reads. `Pulumi.yaml` declares none of them (docs/adr/0003-configuration.md). */
export const CONFIGURATION_KEYS = {
  system: {
    type: "string",
    description: `What the stack consists of: ${quotedList(SYSTEMS)}.`,
    secret: false,
    default: "ssh",
  },
  layer: {
    type: "string",
    description:
      "The layer below the stack file: its name is that of `layers/<name>.yaml` beside the stack files ([environment layers](regions.md#environment-layers)).",
    secret: false,
  },
  labels: {
    type: "object",
    description:
      "Labels of the stack, name → value, by which `fleet.yaml` chooses it ([regions](regions.md#a-fleet-in-waves)); Kubernetes sees none of them.",
    secret: false,
  },
  shared: {
    type: "object",
    description:
      "Stacks whose outputs fill values, name → stack: with `base: organization/network/eu1`, `${shared.base.networkId}` is its output `networkId` ([shared values](regions.md#what-regions-share)).",
    secret: false,
  },
  cluster: section("The cluster, and its machines when they exist", CLUSTER_RENAMES, KUBEADM_SYSTEMS),
  openstack: section("The cloud and its pools of machines", OPENSTACK_RENAMES, ["openstack"]),
  tumblebug: section(
    "The CB-Tumblebug server, the clouds behind it and the groups of machines",
    TUMBLEBUG_RENAMES,
    ["tumblebug"],
  ),
  azimuth: section("The cluster and the management cluster's objects", AZIMUTH_RENAMES, ["azimuth"]),
  machinePool: section("The MachinePool and what it refers to", MACHINE_POOL_RENAMES, ["machine-pool"]),
  collector: section("The stacks whose kubeconfigs are collected", {}, ["collector"]),
  managementKubeconfig: secret(
    "string",
    `Kubeconfig of the management cluster, with one context, for the systems ${quotedList(MANAGEMENT_SYSTEMS)}.`,
    MANAGEMENT_SYSTEMS,
  ),
  workloadKubeconfig: secret(
    "string",
    "Kubeconfig of the workload cluster, with one context; when absent, Cluster API's own Secret <cluster>-kubeconfig.",
    ["machine-pool"],
  ),
  tumblebugCredentials: secret(
    "object",
    "{username, password} of the CB-Tumblebug server; when absent, $TUMBLEBUG_USERNAME and $TUMBLEBUG_PASSWORD.",
    ["tumblebug"],
  ),
  cloudApplicationCredential: secret(
    "object",
    "{id, secret} of an OpenStack application credential for the cloud controller manager and Cinder CSI; when absent, the stack creates one.",
    ["openstack"],
  ),
  sshPrivateKey: secret(
    "string",
    "SSH private key for all machines; when absent, the SSH agent of $SSH_AUTH_SOCK.",
    KUBEADM_SYSTEMS,
  ),
  sshPrivateKeys: secret(
    "object",
    'Machine name → SSH private key, for machines with a key of their own; "jumpHost" is the jump host\'s.',
    KUBEADM_SYSTEMS,
  ),
  registryCredentials: secret(
    "object",
    "Registry host → {username, password}, for the image pulls of containerd; those of docker.io are for registry-1.docker.io, too.",
    KUBEADM_SYSTEMS,
  ),
  proxyCredentials: secret(
    "object",
    "{username, password} for the proxy of the machines, `cluster.proxy`.",
    KUBEADM_SYSTEMS,
  ),
} satisfies Record<string, ConfigurationKey>;

export type KeyName = keyof typeof CONFIGURATION_KEYS;
