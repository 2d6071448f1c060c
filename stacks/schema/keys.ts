/** A key of the stack configuration, without its `foresail:`. */
export interface ConfigurationKey {
  type: "string" | "object";
  description: string;
  secret: boolean;
  required: boolean;
  default?: string;
  /** Systems that read it; absent: all. */
  systems?: readonly System[];
}

/** Systems that one stack can be. */
export const SYSTEMS = ["ssh", "openstack", "machine-pool"] as const;
export type System = (typeof SYSTEMS)[number];

/** Every key that foresail reads; `Pulumi.yaml` declares those that are not secret (docs/adr/0003-configuration.md). */
export const CONFIGURATION_KEYS = {
  system: {
    type: "string",
    description: `What the stack is made of: ${SYSTEMS.map((system) => `"${system}"`).join(", ")}.`,
    secret: false,
    required: false,
    default: "ssh",
  },
  cluster: {
    type: "object",
    description:
      'The cluster, and its machines when they exist, for the systems "ssh" and "openstack", which need it; every field below.',
    secret: false,
    required: false,
    systems: ["ssh", "openstack"],
  },
  openstack: {
    type: "object",
    description: 'The cloud and its pools of machines, for the system "openstack"; every field below.',
    secret: false,
    required: false,
    systems: ["openstack"],
  },
  machinePool: {
    type: "object",
    description: 'The MachinePool and what it refers to, for the system "machine-pool"; every field below.',
    secret: false,
    required: false,
    systems: ["machine-pool"],
  },
  managementKubeconfig: {
    type: "string",
    description: 'Kubeconfig of the management cluster, with one context, for the system "machine-pool".',
    secret: true,
    required: false,
    systems: ["machine-pool"],
  },
  workloadKubeconfig: {
    type: "string",
    description:
      "Kubeconfig of the workload cluster, with one context; when absent, Cluster API's own Secret <cluster>-kubeconfig.",
    secret: true,
    required: false,
    systems: ["machine-pool"],
  },
  cloudApplicationCredential: {
    type: "object",
    description:
      "{id, secret} of an OpenStack application credential for the cloud controller manager and Cinder CSI; when absent, the stack makes one.",
    secret: true,
    required: false,
    systems: ["openstack"],
  },
  sshPrivateKey: {
    type: "string",
    description: "SSH private key for all machines; when absent, the SSH agent of $SSH_AUTH_SOCK.",
    secret: true,
    required: false,
    systems: ["ssh", "openstack"],
  },
  sshPrivateKeys: {
    type: "object",
    description:
      'Machine name → SSH private key, for machines with a key of their own; "jumpHost" is the jump host\'s.',
    secret: true,
    required: false,
    systems: ["ssh", "openstack"],
  },
  registryCredentials: {
    type: "object",
    description: "Registry host → {username, password}, for the image pulls of containerd.",
    secret: true,
    required: false,
    systems: ["ssh", "openstack"],
  },
} as const satisfies Record<string, ConfigurationKey>;
