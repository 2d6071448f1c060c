import { withCurrentNames } from "../../lib/pulumi/renamed-arguments";
import { OPENSTACK_CLUSTER_RENAMES } from "../../providers/openstack/plan/validation";
import { API_SERVER_PORT } from "../../lib/validation/ports";
import { networkOf } from "../../providers/kubeadm/plan/defaults";
import * as pulumi from "@pulumi/pulumi";
import { InitializedMark } from "../../providers/openstack/resources/initialized-mark";
import type { StateResources } from "../../lib/pulumi/state";
import type { NodeOutput } from "../../providers/kubeadm/resources/inputs";
import { podNetworkKind, timeouts } from "../kubeadm/defaults";
import { jumpHost, sshCredentials } from "../kubeadm/machines";
import { KubeadmCluster } from "../kubeadm/kubeadm-cluster";
import type { EndpointArgs } from "../kubeadm/kubeadm-cluster-args";
import { installCloudAddons, makesCredential, wantsCinder, withExternalCloudProvider } from "./cloud-addons";
import { Infrastructure } from "./infrastructure";
import { ComponentWithState } from "../../lib/pulumi/stack";
import type { ApiLoadBalancer } from "./load-balancer";
import { withHostKey, type CloudMachine } from "./machines";
import type { OpenstackClusterArgs } from "./openstack-cluster-args";

/** What the component creates. */
interface Parts {
  infrastructure: Infrastructure;
  machines: CloudMachine[];
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
    super("foresail:openstack:OpenstackCluster", clusterName, {}, opts);
    this.args = withCurrentNames(`OpenstackCluster ${clusterName}`, given, OPENSTACK_CLUSTER_RENAMES);
    this.kubeconfig = this.part(({ cluster }) => cluster.kubeconfig);
    this.nodes = this.part(({ cluster }) => cluster.nodes);
    this.version = this.part(({ cluster }) => cluster.version);
    this.endpoints = this.part(({ cluster, infrastructure }) =>
      describeEndpoints(cluster, infrastructure.balancer),
    );
    this.servers = this.part(({ machines }) => pulumi.output(serverIds(machines)));
    this.remaining = this.part(({ infrastructure }) => infrastructure.later);
    this.registerOutputs({
      kubeconfig: this.kubeconfig,
      endpoints: this.endpoints,
      nodes: this.nodes,
      version: this.version,
      servers: this.servers,
      remaining: this.remaining,
    });
  }

  protected override make(existing: StateResources): Parts {
    const infrastructure = this.makeInfrastructure(existing);
    const machines = this.withHostKeys(infrastructure);
    const cluster = this.makeCluster(machines, infrastructure);
    this.markInitialized(cluster, machines);
    this.installAddons(cluster, infrastructure);
    return { infrastructure, machines, cluster };
  }

  private makeInfrastructure(existing: StateResources): Infrastructure {
    const { cluster, cloudProvider, ...args } = this.args;
    return new Infrastructure(
      this.clusterName,
      {
        ...args,
        existing,
        podNetwork: podNetworkKind(cluster),
        podCidr: networkOf(cluster.network).podSubnet,
        services: {
          loadBalancers: cloudProvider.enabled,
          volumes: wantsCinder(cloudProvider),
          ownCredential: makesCredential(cloudProvider),
        },
      },
      { parent: this },
    );
  }

  private withHostKeys({ machines, inCloud }: Infrastructure): CloudMachine[] {
    const { cloud, region, cluster } = this.args;
    const jump = jumpHost(cluster);
    const contact = {
      ...(cloud ? { cloud } : {}),
      ...(region ? { region } : {}),
      ...(jump ? { jumpHost: jump } : {}),
      credentials: sshCredentials({ ...cluster, machines: [] }),
      timeoutSeconds: timeouts(cluster).ssh,
    };
    return machines.map((machine) => withHostKey(this.clusterName, machine, contact, inCloud));
  }

  private makeCluster(machines: CloudMachine[], { balancer, state }: Infrastructure): KubeadmCluster {
    const { cluster, endpoint, cloudProvider } = this.args;
    const names = [
      ...(balancer ? [balancer.address] : []),
      ...(balancer?.floatingIp ? [balancer.floatingIp] : []),
    ];
    const reached: EndpointArgs | undefined = balancer
      ? { external: { host: balancer.address, port: API_SERVER_PORT } }
      : endpoint && !("octavia" in endpoint)
        ? endpoint
        : undefined;
    return new KubeadmCluster(
      this.clusterName,
      {
        ...cluster,
        kubeadm: cloudProvider.enabled ? withExternalCloudProvider(cluster.kubeadm) : cluster.kubeadm,
        machines: machines.map(({ args }) => args),
        ...(reached ? { endpoint: reached } : {}),
        loadBalancer: this.loadBalancer(balancer, reached),
        certificateNames: [...(cluster.certificateNames ?? []), ...names],
        // While a control plane is being replaced, there is one more.
        allowEvenControlPlanes: true,
        lost: state.lost,
      },
      { parent: this },
    );
  }

  /**
   * Returns host:port of the load balancer for the kubeconfig: its floating IP, or else the nodes' external endpoint;
   * undefined when control planes have floating IPs of their own.
   */
  private loadBalancer(balancer?: ApiLoadBalancer, reached?: EndpointArgs): pulumi.Input<string> | undefined {
    if (balancer?.floatingIp) return pulumi.interpolate`${balancer.floatingIp}:${API_SERVER_PORT}`;
    const isElsewhere = this.args.pools.some(
      ({ role, floatingIp }) => role === "control-plane" && floatingIp,
    );
    if (isElsewhere || reached === undefined || !("external" in reached)) return undefined;
    return pulumi.interpolate`${reached.external.host}:${reached.external.port}`;
  }

  /** Adds the ready tag to each server after its node agent reports the machine as ready. */
  private markInitialized(cluster: KubeadmCluster, machines: CloudMachine[]): void {
    const { cloud, region } = this.args;
    new InitializedMark(
      `${this.clusterName}-initialized`,
      {
        ...cluster.common,
        machines: cluster.machines,
        ...(cloud ? { cloud } : {}),
        ...(region ? { region } : {}),
        servers: serverIds(machines),
      },
      { parent: this, dependsOn: [cluster] },
    );
  }

  private installAddons(cluster: KubeadmCluster, { plan, mark, inCloud }: Infrastructure): void {
    const { cloudProvider } = this.args;
    if (!cloudProvider.enabled) return;
    installCloudAddons(
      this.clusterName,
      {
        kubeconfig: cluster.directKubeconfig,
        found: plan.found,
        mark,
        cloudProvider,
      },
      { ...inCloud, parent: this, deletedWith: cluster.existence, dependsOn: [cluster.existence] },
    );
  }
}

function serverIds(machines: readonly CloudMachine[]): Record<string, pulumi.Output<string>> {
  return Object.fromEntries(machines.map(({ args, server }) => [args.name, server.id]));
}

function describeEndpoints(cluster: KubeadmCluster, balancer?: ApiLoadBalancer) {
  return pulumi.all([cluster.endpoints, balancer?.floatingIp]).apply(([endpoints, external]) => ({
    ...endpoints,
    ...(external === undefined ? {} : { external: `${external}:${API_SERVER_PORT}` }),
  }));
}
