import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import type { Fields, Later } from "../../lib/pulumi/argument-reader";
import { certificateNameIssue, hostPortIssue } from "../../lib/validation/addresses";
import { issueAt } from "../../lib/validation/validation-issue";
import { proxyCredentialsIssue } from "../../providers/kubeadm/plan/validation/settings";
import { ClusterInput, JumpHost, SshConfiguration } from "../../stacks/schema/cluster";
import { ProxyConfiguration, RegistriesConfiguration } from "../../stacks/schema/host";
import { MachineInput } from "../../stacks/schema/machine";
import { NetworkConfiguration } from "../../stacks/schema/network";
import { flag, rules, text } from "../../stacks/schema/rule";
import { secretFields, secretText } from "../../stacks/schema/secrets";

const credentials = () => secretFields(["username", "password"]);

/** What the arguments of a cluster have besides the fields of a stack file: secrets, and values of other resources. */
const ClusterFields = ClusterInput.extend({
  name: ClusterInput.shape.name.optional(),
  ssh: SshConfiguration.extend({
    privateKey: secretText().describe("Private key; when absent, the agent of $SSH_AUTH_SOCK."),
    privateKeys: z
      .record(z.string(), z.string())
      .optional()
      .describe("Private keys of machines by their names; a machine's own `privateKey` takes precedence."),
    jumpHost: JumpHost.extend({ privateKey: secretText() }).optional(),
  }).prefault({}),
  network: NetworkConfiguration.extend({
    holdNodeAddress: flag(
      false,
      "Put a machine's internal address on it when no device has it, on a cloud that translates.",
    ),
  }).prefault({}),
  proxy: rules(
    ProxyConfiguration.extend({ credentials: credentials() }),
    ({ credentials: login, ...proxy }) =>
      login === undefined ? [] : issueAt(["credentials"], proxyCredentialsIssue(login, proxy)),
  ).optional(),
  registries: RegistriesConfiguration.safeExtend({
    credentials: z.record(z.string(), secretFields(["username", "password"]).unwrap()).optional(),
  }).prefault({}),
  certificateNames: z
    .array(text(certificateNameIssue))
    .default([])
    .describe("Additional names and addresses in the certificates of the API servers."),
});

const MachineFields = MachineInput.extend({
  privateKey: secretText().describe("Private key, when it differs from the cluster's."),
  certificateName: text(certificateNameIssue)
    .optional()
    .describe("Name in the API server's certificate, if the address is not in the certificate."),
});

/** Schema of the arguments of a cluster whose machines are given. */
export const KubeadmClusterFields = ClusterFields.extend({
  machines: z.array(MachineFields),
  loadBalancer: text(hostPortIssue)
    .optional()
    .describe("Load balancer for users, at `endpoint.external` or a name of `certificateNames`."),
});

/** As {@link KubeadmClusterFields}, of machines whose addresses a cloud answers: they are checked when they are used. */
export const ProvidedClusterFields = KubeadmClusterFields.extend({
  machines: z.array(MachineFields.extend({ address: z.string(), internalAddress: z.string().optional() })),
});

/** Fields of a cluster that have to do with given machines. A cloud has its own machines. */
const MACHINE_FIELDS = {
  machines: true,
  adopt: true,
  resetOnDestroy: true,
  lost: true,
  allowEvenControlPlanes: true,
  endpoint: true,
} as const;

/** Schema of the arguments of a cluster on the machines of a cloud. */
export const ClusterOfCloudFields = ClusterFields.omit(MACHINE_FIELDS);

/** Arguments that decide which resources a cluster has, and how long they may take. */
export const FIXED = [
  ...["name", "machines", "machines[]", "machines[].name", "machines[].role", "machines[].pool"],
  ...["ssh", "ssh.dialTimeoutSeconds", "ssh.requireHostKeys", "ssh.jumpHost", "timeouts.*"],
  ...[
    "adopt",
    "resetOnDestroy",
    "takeOver",
    "deletionProtection",
    "encryptionKeyGeneration",
    "bootstrapRevision",
  ],
  ...["endpoint", "endpoint.loopback.*", "endpoint.external", "network", "network.plugin.*"],
  ...["rollout", "rollout.nodeTimeoutSeconds", "registries", "proxy", "certificateNames"],
];

/** Arguments that are plain values. */
type Plain =
  | "name"
  | "timeouts"
  | "adopt"
  | "resetOnDestroy"
  | "takeOver"
  | "deletionProtection"
  | "encryptionKeyGeneration"
  | "bootstrapRevision";

/** Objects of which each field may be an output, but for some of them. */
interface PlainParts {
  network: "plugin";
  rollout: "nodeTimeoutSeconds";
  registries: never;
  proxy: never;
}

type WithInputs<T> = {
  [Key in keyof T]: Key extends Plain
    ? T[Key]
    : Key extends keyof PlainParts
      ? Fields<T[Key], PlainParts[Key]>
      : Key extends "machines"
        ? MachineOf<T[Key]>[]
        : Key extends "ssh"
          ? SshOf<T[Key]>
          : Key extends "certificateNames"
            ? pulumi.Input<string>[] | Extract<T[Key], undefined>
            : Key extends "endpoint"
              ? EndpointArgs | Extract<T[Key], undefined>
              : Later<T[Key]>;
};

type MachineOf<T> = T extends readonly (infer Item)[] ? Fields<Item, "name" | "role" | "pool"> : never;
type SshOf<T> = {
  [Key in keyof T]: Key extends "dialTimeoutSeconds" | "requireHostKeys"
    ? T[Key]
    : Key extends "jumpHost"
      ? Fields<T[Key]>
      : Later<T[Key]>;
};

/** How nodes find an API server: haproxy on each node, or an external address that foresail does not manage. */
export interface EndpointArgs {
  /** The port is 7445 for a new cluster when it is absent; an existing one keeps its own. */
  loopback?: { port?: number };
  external?: { host: pulumi.Input<string>; port?: pulumi.Input<number> };
}

/** A machine that is reachable over SSH. Its name, role and pool are plain values, since they decide which resources exist. */
export type MachineArgs = MachineOf<z.input<typeof KubeadmClusterFields>["machines"]>;

/** How to reach the machines over SSH. Without a private key, the agent at SSH_AUTH_SOCK is used. */
export type SshArgs = NonNullable<KubeadmClusterArgs["ssh"]>;
/** How versions roll out. Omitted fields have the defaults of a stack's configuration. */
export type RolloutArgs = NonNullable<KubeadmClusterArgs["rollout"]>;
/** The pod network: exactly one. */
export type NetworkPlugin = NonNullable<NonNullable<KubeadmClusterArgs["network"]>["plugin"]>;
/** A chart that foresail knows by name. */
export type ChartValues = NonNullable<NetworkPlugin["cilium"]>;
/** Any chart. */
export type ChartArgs = NonNullable<NetworkPlugin["chart"]>;

/** What a cloud's component passes on besides the arguments of its cluster. */
interface InternalArgs {
  /** @internal Reads `endpoints.nodes` of the stack's last run, for an endpoint without a port. @default from the resources */
  nodesEndpoint?: () => Promise<unknown>;
  /** @internal Whether the program itself makes the machines, which it deletes with the cluster. @default false */
  provided?: boolean;
  /** @internal Names of machines that a later update replaces or removes; until then their versions do not change. @default none */
  leavingLater?: string[];
}

/**
 * Arguments of a cluster: the fields of a stack file's `foresail:cluster` (docs/configuration.md) with the same defaults and
 * rules, and secrets. What does not decide which resources there are may be an output of another resource.
 */
export type KubeadmClusterArgs = WithInputs<z.input<typeof KubeadmClusterFields>> & InternalArgs;

/** Arguments of a cluster on the machines of a cloud. */
export type ClusterOfCloudArgs = WithInputs<z.input<typeof ClusterOfCloudFields>>;

/** Arguments with their defaults. */
export type KubeadmClusterSettings = WithInputs<z.output<typeof KubeadmClusterFields>>;
/** The pod network of a cluster. */
export type PluginSettings = KubeadmClusterSettings["network"]["plugin"];
/** Arguments of a cloud's cluster with their defaults. */
export type ClusterSettings = WithInputs<z.output<typeof ClusterOfCloudFields>>;
