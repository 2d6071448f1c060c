import * as pulumi from "@pulumi/pulumi";
import { ComponentWithState } from "../../lib/pulumi/stack";
import type { StateResources } from "../../lib/pulumi/state";
import { API_SERVER_PORT } from "../../lib/validation/ports";
import type { NodeOutput } from "../../providers/kubeadm/resources/declarations";
import { InitializedMark } from "../../providers/openstack/resources/declarations";
import { timeouts } from "../kubeadm/defaults";
import { KubeadmCluster } from "../kubeadm/kubeadm-cluster";
import { endpointIn } from "../kubeadm/endpoint";
import type { EndpointArgs } from "../kubeadm/kubeadm-cluster-args";
import { jumpHost, sshCredentials } from "../kubeadm/machines";
import { installCloudAddons, withExternalCloudProvider } from "./cloud-addons";
import { makeInfrastructure, type Infrastructure } from "./infrastructure";
import { withHostKey, type CloudMachine } from "./machines";
import { type CheckedOpenstack, checkedOpenstack, type OpenstackClusterArgs } from "./openstack-cluster-args";

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

  private readonly args: CheckedOpenstack;

  constructor(
    private readonly clusterName: string,
    given: OpenstackClusterArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    // the base class calls `make` even if this constructor throws later
    const args = checkedOpenstack(clusterName, given);
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
      ...(cluster.ssh.requireHostKeys ? { requireConsole: true } : {}),
    };
    const given = "octavia" in endpoint ? undefined : endpoint;
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
