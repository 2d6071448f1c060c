import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import type { JsonObject } from "../../lib/merge";
import type { RolloutSettings } from "../../providers/kubeadm/plan/rollout/desired";
import type {
  ClusterSpecification,
  ProxyCredentials,
} from "../../providers/kubeadm/plan/cluster/specification";
import { ClusterInput, JumpHostSchema, SshConfiguration } from "../../stacks/schema/cluster";
import { HostFiles, ProxyConfiguration, RegistriesConfiguration } from "../../stacks/schema/host";
import { MachineInput } from "../../stacks/schema/machine";
import { NetworkConfiguration } from "../../stacks/schema/network";
import { rules } from "../../stacks/schema/rule";
import { hostFileListIssues } from "../../providers/kubeadm/plan/validation/files";
import { ipVersion } from "../../lib/validation/addresses";
import { lineIssue } from "../../lib/validation/names";
import { DEFAULT_SSH } from "../../providers/kubeadm/plan/cluster/defaults";
import { type ArgumentsOf, orElse, orEmptyText } from "../arguments";

/** Schema of what a stack file has no field for, and no rule: a secret, or what another component passes. */
const given = <Value>() => z.custom<Value>().optional();

/** Wider than in a stack file, as in 0.1.0: what SSH alone needs may be an account of a directory, or an address in IPv6. */
const account = (schema: z.ZodType) => orElse(schema, (text) => lineIssue(text) === undefined);
const sshHost = (schema: z.ZodType) =>
  orElse(
    schema,
    (text) => ipVersion(text) === 6 || (/^\w[\w-]*(\.[\w-]+)*\.?$/.test(text) && /[^\d.]/.test(text)),
  );
const server = (schema: z.ZodType) =>
  orElse(schema, (text) => ipVersion(/^\[(.*)\]:\d{1,5}$/.exec(text)?.[1] ?? "") === 6);

const Machine = MachineInput.extend({
  address: sshHost(MachineInput.shape.address),
  user: account(MachineInput.shape.user).optional(),
  internalAddress: orEmptyText(MachineInput.shape.internalAddress).optional(),
  apiServer: server(MachineInput.shape.apiServer).optional(),
  pool: orEmptyText(MachineInput.shape.pool).optional(),
  privateKey: given<pulumi.Input<string>>(),
  certificateName: given<string>(),
});

const Ssh = SshConfiguration.extend({
  user: account(SshConfiguration.shape.user).default(DEFAULT_SSH.user),
  privateKey: given<pulumi.Input<string>>(),
  privateKeys: given<pulumi.Input<Record<string, string>>>(),
  jumpHost: JumpHostSchema.extend({
    privateKey: given<pulumi.Input<string>>(),
    address: sshHost(JumpHostSchema.shape.address),
    user: account(JumpHostSchema.shape.user).optional(),
  }).optional(),
});

const { element: HostFile } = HostFiles;
const File = HostFile.extend({ owner: orEmptyText(HostFile.shape.owner).optional() });

/** Schema of a cluster in a program: that of a stack file, with secrets and what other components pass. */
export const ClusterArguments = ClusterInput.extend({
  machines: z.array(Machine),
  lost: z.array(orEmptyText(ClusterInput.shape.lost.unwrap().element)).default([]),
  files: rules(z.array(File), hostFileListIssues).default([]),
  imageRepository: orEmptyText(ClusterInput.shape.imageRepository).optional(),
  caBundle: orEmptyText(ClusterInput.shape.caBundle).optional(),
  ssh: Ssh.prefault({}),
  network: NetworkConfiguration.extend({ holdNodeAddress: given<boolean>() }).prefault({}),
  proxy: ProxyConfiguration.extend({ credentials: given<pulumi.Input<ProxyCredentials>>() }).optional(),
  registries: RegistriesConfiguration.safeExtend({
    credentials: given<pulumi.Input<Record<string, { username: string; password: string }>>>(),
  }).prefault({}),
  loadBalancer: given<pulumi.Input<string>>(),
  certificateNames: given<pulumi.Input<string>[]>(),
  nodesEndpoint: given<() => Promise<unknown>>(),
  provided: given<boolean>(),
  leavingLater: given<string[]>(),
});

/** The pod network. */
export type NetworkPlugin =
  /** Built in, for flat networks: each node answers ARP for its pods. Needs no download. */
  | { bridge: Record<string, never> }
  | { cilium: ChartValues }
  | { calico: ChartValues }
  | { flannel: ChartValues }
  /** None: an adopted cluster keeps its own. */
  | { none: Record<string, never> }
  /** A YAML file, by path or URL. */
  | { manifest: { path: string } | { url: string; digest?: string } }
  | { chart: ChartArgs };

export interface ChartValues {
  /** Chart version. @default the release that foresail knows */
  version?: string;
  /** Digest of the chart's archive, "sha256:…". @default the one that foresail knows for its own version, if any */
  digest?: string;
  values?: JsonObject;
}

export interface ChartArgs extends ChartValues {
  /** Chart name in its repository, an OCI reference, or a local path. */
  chart: string;
  repository?: string;
  namespace: string;
}

/** How nodes find an API server: haproxy on each node, or an external address that foresail does not manage. */
export type EndpointArgs =
  | { loopback: { /** @default 7445 for a new cluster; an existing one keeps its own */ port?: number } }
  | { external: { host: pulumi.Input<string>; /** @default 6443 */ port?: number } };

type Cluster = z.input<typeof ClusterInput>;

/** A machine that is reachable over SSH: a machine of a stack file. Name, role and pool are plain values, since they decide which resources exist. */
export interface MachineArgs extends Omit<
  ArgumentsOf<z.input<typeof MachineInput>>,
  "name" | "role" | "pool"
> {
  /** Name of the machine and of its Node: a host name. */
  name: string;
  role: "control-plane" | "worker";
  /** Worker pool; workers only. @default "workers" */
  pool?: string;
  /** Private key, when it differs from the cluster's. */
  privateKey?: pulumi.Input<string>;
  /** Name in the API server's certificate, if the address is not in the certificate. @default the address */
  certificateName?: string;
}

type SshFields = Omit<z.input<typeof SshConfiguration>, "jumpHost">;

/** How to reach the machines over SSH. Without a private key, the agent at SSH_AUTH_SOCK is used. */
export interface SshArgs extends ArgumentsOf<SshFields> {
  privateKey?: pulumi.Input<string>;
  /** Private keys of machines by their names, where they differ; a machine's own `privateKey` takes precedence. */
  privateKeys?: pulumi.Input<Record<string, string>>;
  /** Host through which every machine is reached. Its user is by default that of the machines. */
  jumpHost?: ArgumentsOf<z.input<typeof JumpHostSchema>> & { privateKey?: pulumi.Input<string> };
}

/** How versions roll out. */
export type RolloutArgs = NonNullable<Cluster["rollout"]>;

/** Fields of an endpoint that decide which resources there are. The host of a load balancer may be known later. */
export const PLAIN_ENDPOINT: readonly string[] = ["endpoint.loopback", "endpoint.external.port"];

/** Fields that decide which resources there are, or whose parts do. */
export const PLAIN: readonly string[] = [
  ...["name", "machines.name", "machines.role", "machines.pool", ...PLAIN_ENDPOINT, "network.plugin"],
  ...["adopt", "resetOnDestroy", "deletionProtection", "lost", "encryptionKeyGeneration"],
  ...["bootstrapRevision", "timeouts", "drain", "rollout", "backup", "certificates"],
  ...["ssh.port", "ssh.dialTimeoutSeconds", "ssh.requireHostKeys", "ssh.jumpHost.use", "files.path"],
  ...["proxy.use", "registries.use"],
];

type Own = "name" | "machines" | "ssh" | "endpoint" | "network" | "proxy" | "registries" | "rollout";

/** The fields of a stack file's section `cluster`, with the same rules and defaults (docs/configuration.md). */
export interface KubeadmClusterArgs extends Omit<ArgumentsOf<Cluster>, Own> {
  /** Name of the cluster. @default the resource's */
  name?: string;
  machines: MachineArgs[];
  ssh?: SshArgs;
  /** How nodes find an API server. @default haproxy on each node */
  endpoint?: EndpointArgs;
  /** Subnets of pods and Services, and the network plugin, by default Flannel. */
  network?: Omit<ArgumentsOf<NonNullable<Cluster["network"]>>, "plugin"> & {
    plugin?: NetworkPlugin;
    /** Puts a machine's internal address on it when no device has it, on a cloud that translates. @default false */
    holdNodeAddress?: boolean;
  };
  /** HTTP proxy of the machines. Its credentials are always secret, and so is every input of a resource with them. */
  proxy?: ArgumentsOf<NonNullable<Cluster["proxy"]>> & { credentials?: pulumi.Input<ProxyCredentials> };
  registries?: ArgumentsOf<NonNullable<Cluster["registries"]>> & {
    /** Registry host → credentials. Always secret. */
    credentials?: pulumi.Input<Record<string, { username: string; password: string }>>;
  };
  /** How versions roll out over the nodes. */
  rollout?: RolloutArgs;
  /** host:port of a load balancer for users, at `endpoint.external` or a name of `certificateNames`. @default none */
  loadBalancer?: pulumi.Input<string>;
  /** Additional names and addresses in the certificates of the API servers. */
  certificateNames?: pulumi.Input<string>[];
  /** @internal Reads `endpoints.nodes` of the stack's last run, for an endpoint without a port. @default from the resources */
  nodesEndpoint?: () => Promise<unknown>;
  /** @internal Whether the program itself makes the machines, which it deletes with the cluster. @default false */
  provided?: boolean;
  /** Names of machines that a later update replaces or removes; until then their versions do not change. @default none */
  leavingLater?: string[];
}

type Checked = z.output<typeof ClusterArguments>;

/** Checked arguments with their defaults. A value that a program gives as an output is one here, too. */
export interface CheckedArgs extends Omit<
  Checked,
  "machines" | "endpoint" | "network" | "kubeadm" | "rollout"
> {
  machines: MachineArgs[];
  endpoint: EndpointArgs;
  network: Omit<Checked["network"], "plugin"> & { plugin: NetworkPlugin };
  kubeadm: ClusterSpecification["kubeadm"];
  rollout: RolloutSettings;
}
