import * as pulumi from "@pulumi/pulumi";
import { refuseArguments, withCurrentNames } from "../../lib/pulumi/arguments";
import { ComponentWithState } from "../../lib/pulumi/stack";
import type { StateResources } from "../../lib/pulumi/state";
import { cidrIssue, ipv4Issue } from "../../lib/validation/addresses";
import { publicKeyIssue } from "../../lib/validation/keys";
import { dnsLabelIssue } from "../../lib/validation/names";
import { API_SERVER_PORT } from "../../lib/validation/ports";
import { below, issueAt, type ValidationIssue } from "../../lib/validation/validation-issue";
import { networkOf } from "../../providers/kubeadm/plan/cluster/defaults";
import { userDataIssue } from "../../providers/kubeadm/plan/validation/files";
import type { NodeOutput } from "../../providers/kubeadm/resources/declarations";
import { OPENSTACK_CLUSTER_RENAMES, openstackIssues } from "../../providers/openstack/plan/validation";
import { InitializedMark } from "../../providers/openstack/resources/declarations";
import { timeouts } from "../kubeadm/defaults";
import { KubeadmCluster } from "../kubeadm/kubeadm-cluster";
import { endpointIn } from "../kubeadm/endpoint";
import type { EndpointArgs } from "../kubeadm/kubeadm-cluster-args";
import { jumpHost, sshCredentials } from "../kubeadm/machines";
import { clusterSettingIssues } from "../kubeadm/validation";
import { installCloudAddons, withExternalCloudProvider } from "./cloud-addons";
import { makeInfrastructure, type Infrastructure } from "./infrastructure";
import { withHostKey, type CloudMachine } from "./machines";
import type { OpenstackClusterArgs } from "./openstack-cluster-args";

/** What the component creates. */
interface Parts {
  infrastructure: Infrastructure;
  cluster: KubeadmCluster;
}

/**
 * A kubeadm cluster on OpenStack servers, with all cloud objects that the servers need. It reads the stack's state to
 * know which machines exist.
 *
 * One update creates missing machines and replaces at most one control plane and `replacementsPerRun` machines of a pool. The
 * `remaining` output lists the changes for later updates (docs/adr/0015-machine-turns.md).
 */
export class OpenstackCluster extends ComponentWithState<Parts> {
  /** Administrator's kubeconfig. Secret. */
  readonly kubeconfig: pulumi.Output<string>;
  readonly endpoints: pulumi.Output<{
    nodes: string;
    controlPlanes: Record<string, string>;
    /** host:port of the load balancer's floating IP. */
    external?: string;
  }>;
  readonly nodes: pulumi.Output<NodeOutput[]>;
  /** Kubernetes version of the cluster, MAJOR.MINOR.PATCH. */
  readonly version: pulumi.Output<string>;
  /** When the first certificate ends that kubeadm renews, by control plane; empty until node agents report it. */
  readonly certificatesExpire: pulumi.Output<Record<string, string>>;
  /** Machine name → id of its server. */
  readonly servers: pulumi.Output<Record<string, string>>;
  /** Remaining changes to machines, for later updates; empty when all machines match the configuration. */
  readonly remaining: pulumi.Output<string[]>;

  private readonly args: OpenstackClusterArgs;

  constructor(
    private readonly clusterName: string,
    given: OpenstackClusterArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    // the base class calls `make` even if this constructor throws later
    const args = withCurrentNames(`OpenstackCluster ${clusterName}`, given, OPENSTACK_CLUSTER_RENAMES);
    refuseArguments(`OpenstackCluster ${clusterName}`, [
      ...issueAt(["name"], dnsLabelIssue(clusterName, 40)),
      ...openstackIssues(
        {
          ...args,
          endpoint: args.endpoint && "octavia" in args.endpoint ? args.endpoint : undefined,
          // a program that allows every address says so by the block itself
          access: { ...args.access, open: true },
        },
        networkOf(args.cluster.network),
      ),
      ...valueIssues(args),
      ...below(["cluster"], clusterSettingIssues(args.cluster)),
    ]);
    super("foresail:openstack:OpenstackCluster", clusterName, {}, opts);
    this.args = args;
    this.kubeconfig = this.part(({ cluster }) => cluster.kubeconfig);
    this.nodes = this.part(({ cluster }) => cluster.nodes);
    this.version = this.part(({ cluster }) => cluster.version);
    this.certificatesExpire = this.part(({ cluster }) => cluster.certificatesExpire);
    this.endpoints = this.part(({ cluster, infrastructure: { balancer } }) =>
      pulumi.all([cluster.endpoints, balancer?.floatingIp]).apply(([endpoints, external]) => ({
        ...endpoints,
        ...(external === undefined ? {} : { external: `${external}:${API_SERVER_PORT}` }),
      })),
    );
    this.servers = this.part(({ infrastructure }) => pulumi.output(serverIds(infrastructure.machines)));
    this.remaining = this.part(({ infrastructure }) => infrastructure.later);
    const { kubeconfig, endpoints, nodes, version, servers, remaining } = this;
    this.registerOutputs({ kubeconfig, endpoints, nodes, version, servers, remaining });
  }

  protected override async make(existing: StateResources): Promise<Parts> {
    const infrastructure = await makeInfrastructure(this.clusterName, this.args, existing, this);
    const cluster = this.makeCluster(infrastructure, existing);
    this.markInitialized(cluster, infrastructure.machines);
    const { cloudProvider } = this.args;
    const { directKubeconfig, existence } = cluster;
    const { objects, plan } = infrastructure;
    if (cloudProvider.enabled)
      installCloudAddons(objects, cloudProvider, plan.found, directKubeconfig, this, existence);
    return { infrastructure, cluster };
  }

  private makeCluster(
    { balancer, machines, lost, leavingLater }: Infrastructure,
    existing: StateResources,
  ): KubeadmCluster {
    const { cloud, region, cluster, endpoint, cloudProvider } = this.args;
    const contact = {
      cloud,
      region,
      jumpHost: jumpHost(cluster),
      credentials: sshCredentials({ ...cluster, machines: [] }),
      timeoutSeconds: timeouts(cluster).ssh,
      ...(cluster.ssh?.requireHostKeys ? { requireConsole: true } : {}),
    };
    const given = endpoint && !("octavia" in endpoint) ? endpoint : undefined;
    const reached = balancer ? { external: { host: balancer.address, port: API_SERVER_PORT } } : given;
    const members = machines.map((machine) => withHostKey(this.clusterName, machine, contact, this).args);
    const names = [balancer?.address, balancer?.floatingIp].filter((name) => name !== undefined);
    return new KubeadmCluster(
      this.clusterName,
      {
        ...cluster,
        kubeadm: cloudProvider.enabled ? withExternalCloudProvider(cluster.kubeadm) : cluster.kubeadm,
        machines: members,
        endpoint: endpointIn(existing, this.clusterName, members, reached),
        loadBalancer: this.loadBalancer(balancer?.floatingIp, reached),
        certificateNames: [...(cluster.certificateNames ?? []), ...names],
        // While a control plane is being replaced, there is one more.
        allowEvenControlPlanes: true,
        lost,
        leavingLater,
        provided: true,
      },
      { parent: this },
    );
  }

  /**
   * Returns host:port of the load balancer for the kubeconfig: its floating IP, or else the nodes' external endpoint;
   * undefined when control planes have floating IPs of their own.
   */
  private loadBalancer(floatingIp?: pulumi.Output<string>, reached?: EndpointArgs) {
    if (floatingIp) return pulumi.interpolate`${floatingIp}:${API_SERVER_PORT}`;
    const isElsewhere = this.args.pools.some((pool) => pool.role === "control-plane" && pool.floatingIp);
    if (isElsewhere || reached === undefined || !("external" in reached)) return undefined;
    return pulumi.interpolate`${reached.external.host}:${reached.external.port}`;
  }

  /**
   * Adds the ready tag to each server after its node agent reports the machine as ready. Does not wait for the rollout,
   * which may take hours and changes nothing about that.
   */
  private markInitialized(cluster: KubeadmCluster, cloudMachines: CloudMachine[]): void {
    const { common, machines } = cluster;
    const { cloud, region } = this.args;
    new InitializedMark(
      `${this.clusterName}-initialized`,
      { ...common, machines, cloud, region, servers: serverIds(cloudMachines) },
      { parent: this, dependsOn: [cluster.agents] },
    );
  }
}

function serverIds(machines: readonly CloudMachine[]): Record<string, pulumi.Output<string>> {
  return Object.fromEntries(machines.map(({ args, server }) => [args.name, server.id]));
}

/** Returns the issues of single arguments, by the rules of a stack's configuration. */
function valueIssues({ network, keypair, userData, pools }: OpenstackClusterArgs): ValidationIssue[] {
  const servers = "dnsNameservers" in network ? network.dnsNameservers : [];
  return [
    ...issueAt(["network", "cidr"], cidrIssue(network.cidr)),
    ...servers.flatMap((server, index) => issueAt(["network", "dnsNameservers", index], ipv4Issue(server))),
    ...issueAt(["keypair", "publicKey"], publicKeyIssue(keypair.publicKey)),
    ...issueAt(["userData"], userData === undefined ? undefined : userDataIssue(userData)),
    ...pools.flatMap(({ name }, index) => issueAt(["pools", index, "name"], dnsLabelIssue(name, 40))),
  ];
}
