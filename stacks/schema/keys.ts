/** A key of the stack configuration, without its `foresail:`. */
export interface ConfigurationKey {
  type: "string" | "object";
  description: string;
  secret: boolean;
  required: boolean;
  default?: string;
}

/** Systems that one stack can be. */
export const SYSTEMS = ["ssh", "openstack"] as const;
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
    description: "The cluster, and its machines when they exist; every field below.",
    secret: false,
    required: true,
  },
  openstack: {
    type: "object",
    description: 'The cloud and its pools of machines, for the system "openstack"; every field below.',
    secret: false,
    required: false,
  },
  cloudApplicationCredential: {
    type: "object",
    description:
      "{id, secret} of an OpenStack application credential for the cloud controller manager and Cinder CSI; when absent, the stack makes one.",
    secret: true,
    required: false,
  },
  sshPrivateKey: {
    type: "string",
    description: "SSH private key for all machines; when absent, the SSH agent of $SSH_AUTH_SOCK.",
    secret: true,
    required: false,
  },
  sshPrivateKeys: {
    type: "object",
    description:
      'Machine name → SSH private key, for machines with a key of their own; "jumpHost" is the jump host\'s.',
    secret: true,
    required: false,
  },
  registryCredentials: {
    type: "object",
    description: "Registry host → {username, password}, for the image pulls of containerd.",
    secret: true,
    required: false,
  },
} as const satisfies Record<string, ConfigurationKey>;
