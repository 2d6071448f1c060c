import type { Renames } from "../../lib/validation/renames";
import { AZIMUTH_RENAMES } from "../../providers/azimuth/plan/validation";
import { CLUSTER_RENAMES } from "../../providers/kubeadm/plan/defaults";
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
export const SYSTEMS = ["ssh", "openstack", "tumblebug", "azimuth", "machine-pool"] as const;
export type System = (typeof SYSTEMS)[number];

/** Systems for which foresail itself runs kubeadm on the machines. */
const KUBEADM_SYSTEMS = ["ssh", "openstack", "tumblebug"] as const satisfies System[];
/** Systems that use objects on a management cluster. */
const MANAGEMENT_SYSTEMS = ["azimuth", "machine-pool"] as const satisfies System[];

/**
 * All keys that foresail reads. `Pulumi.yaml` declares the one that every stack has (docs/adr/0003-configuration.md).
 */
export const CONFIGURATION_KEYS = {
  system: {
    type: "string",
    description: `What the stack is made of: ${SYSTEMS.map((system) => `"${system}"`).join(", ")}.`,
    secret: false,
    default: "ssh",
  },
  cluster: {
    type: "object",
    description: `The cluster, and its machines when they exist; the systems ${KUBEADM_SYSTEMS.map((system) => `"${system}"`).join(", ")} need it; every field below.`,
    secret: false,
    renames: CLUSTER_RENAMES,
    systems: KUBEADM_SYSTEMS,
  },
  openstack: {
    type: "object",
    description: 'The cloud and its pools of machines, for the system "openstack"; every field below.',
    secret: false,
    renames: OPENSTACK_RENAMES,
    systems: ["openstack"],
  },
  tumblebug: {
    type: "object",
    description:
      'The CB-Tumblebug server, the clouds behind it and the groups of machines, for the system "tumblebug"; every field below.',
    secret: false,
    renames: TUMBLEBUG_RENAMES,
    systems: ["tumblebug"],
  },
  azimuth: {
    type: "object",
    description:
      'The cluster and the management cluster\'s objects, for the system "azimuth"; every field below.',
    secret: false,
    renames: AZIMUTH_RENAMES,
    systems: ["azimuth"],
  },
  machinePool: {
    type: "object",
    description: 'The MachinePool and what it refers to, for the system "machine-pool"; every field below.',
    secret: false,
    renames: MACHINE_POOL_RENAMES,
    systems: ["machine-pool"],
  },
  managementKubeconfig: {
    type: "string",
    description: `Kubeconfig of the management cluster, with one context, for the systems ${MANAGEMENT_SYSTEMS.map((system) => `"${system}"`).join(" and ")}.`,
    secret: true,
    systems: MANAGEMENT_SYSTEMS,
  },
  workloadKubeconfig: {
    type: "string",
    description:
      "Kubeconfig of the workload cluster, with one context; when absent, Cluster API's own Secret <cluster>-kubeconfig.",
    secret: true,
    systems: ["machine-pool"],
  },
  tumblebugCredentials: {
    type: "object",
    description:
      "{username, password} of the CB-Tumblebug server; when absent, $TUMBLEBUG_USERNAME and $TUMBLEBUG_PASSWORD.",
    secret: true,
    systems: ["tumblebug"],
  },
  cloudApplicationCredential: {
    type: "object",
    description:
      "{id, secret} of an OpenStack application credential for the cloud controller manager and Cinder CSI; when absent, the stack makes one.",
    secret: true,
    systems: ["openstack"],
  },
  sshPrivateKey: {
    type: "string",
    description: "SSH private key for all machines; when absent, the SSH agent of $SSH_AUTH_SOCK.",
    secret: true,
    systems: KUBEADM_SYSTEMS,
  },
  sshPrivateKeys: {
    type: "object",
    description:
      'Machine name → SSH private key, for machines with a key of their own; "jumpHost" is the jump host\'s.',
    secret: true,
    systems: KUBEADM_SYSTEMS,
  },
  registryCredentials: {
    type: "object",
    description: "Registry host → {username, password}, for the image pulls of containerd.",
    secret: true,
    systems: KUBEADM_SYSTEMS,
  },
} as const satisfies Record<string, ConfigurationKey>;

export type KeyName = keyof typeof CONFIGURATION_KEYS;
