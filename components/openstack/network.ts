import * as pulumi from "@pulumi/pulumi";
import { Listener } from "@pulumi/openstack/loadbalancer/listener";
import { LoadBalancer } from "@pulumi/openstack/loadbalancer/loadBalancer";
import { Member } from "@pulumi/openstack/loadbalancer/member";
import { Monitor } from "@pulumi/openstack/loadbalancer/monitor";
import { Pool } from "@pulumi/openstack/loadbalancer/pool";
import { Network } from "@pulumi/openstack/networking/network";
import { Router } from "@pulumi/openstack/networking/router";
import { RouterInterface } from "@pulumi/openstack/networking/routerInterface";
import { SecGroup } from "@pulumi/openstack/networking/secGroup";
import { SecGroupRule } from "@pulumi/openstack/networking/secGroupRule";
import { Subnet } from "@pulumi/openstack/networking/subnet";
import { API_SERVER_PORT } from "../../lib/validation/ports";
import { apiBalancerResource } from "../../providers/kubeadm/plan/cluster/resource-names";
import { EXISTING_NETWORK, type NetworkKey } from "../../providers/openstack/plan/machine";
import { networkResource, ruleResource, securityGroupName } from "../../providers/openstack/plan/new-objects";
import type { SecurityGroupName, SecurityRule } from "../../providers/openstack/plan/security-rules";
import type { CloudObjects } from "./cloud-objects";
import type { NetworkArgs } from "./openstack-cluster-args";

/** A network for machines. */
export interface MachineNetwork {
  id: pulumi.Input<string>;
  /** Absent for an existing network. */
  subnetId?: pulumi.Input<string>;
  /** Resources that a floating IP needs to reach a port: the router interface. */
  way: pulumi.Resource[];
}

/** Returns the key by which a machine's metadata identifies its network. */
export function networkKey(network: NetworkArgs): NetworkKey {
  return "id" in network ? `${EXISTING_NETWORK}${network.id}` : network.cidr;
}

/**
 * Creates the machines' networks: the desired one, and those of machines that have not been replaced yet. One router
 * connects all networks of the stack. Returns them by key.
 *
 * @param inUse networks of the machines of this run
 */
export function makeNetworks(
  objects: CloudObjects,
  wanted: NetworkArgs,
  inUse: readonly NetworkKey[],
  externalNetworkId: pulumi.Output<string>,
): Map<NetworkKey, MachineNetwork> {
  const { cluster, opts } = objects;
  const common = { description: objects.described(), adminStateUp: true };
  let router: Router | undefined;
  const make = (key: NetworkKey): MachineNetwork => {
    if (key.startsWith(EXISTING_NETWORK)) return { id: key.slice(EXISTING_NETWORK.length), way: [] };
    router ??= new Router(cluster, { name: cluster, ...common, externalNetworkId }, opts);
    const name = networkResource(cluster, key);
    const network = new Network(name, { name, ...common }, opts);
    const { description } = common;
    const dnsNameservers = "dnsNameservers" in wanted ? wanted.dnsNameservers : [];
    const addresses = { networkId: network.id, cidr: key, ipVersion: 4, dnsNameservers };
    const subnet = new Subnet(name, { name, description, ...addresses }, opts);
    const way = new RouterInterface(name, { routerId: router.id, subnetId: subnet.id }, opts);
    return { id: network.id, subnetId: subnet.id, way: [way] };
  };
  return new Map([...new Set([networkKey(wanted), ...inUse])].map((key) => [key, make(key)]));
}

/** The cluster's security groups and their rules. Servers depend on the rules. */
export type Security = ReturnType<typeof makeSecurityGroups>;

/** Creates the two security groups and their rules. */
export function makeSecurityGroups(objects: CloudObjects, desired: readonly SecurityRule[]) {
  const { cluster, opts } = objects;
  const make = (group: SecurityGroupName, words: string) => {
    const name = securityGroupName(cluster, group);
    const description = objects.described(`${words} of the cluster ${cluster}`);
    return new SecGroup(name, { name, description }, opts);
  };
  const groups = {
    nodes: make("nodes", "every machine"),
    "control-planes": make("control-planes", "the control planes"),
  };
  const rules = desired.map(
    ({ group, name, why, protocol, ports, cidr, peers }) =>
      new SecGroupRule(
        ruleResource(cluster, { group, name, ...(cidr === undefined ? {} : { cidr }) }),
        {
          securityGroupId: groups[group].id,
          direction: "ingress",
          ethertype: "IPv4",
          description: objects.described(why),
          protocol,
          portRangeMin: ports?.[0],
          portRangeMax: ports?.[1],
          remoteIpPrefix: cidr,
          remoteGroupId: peers && groups[peers].id,
        },
        // The cloud deletes a group's rules with the group; one by one, the provider would wait 5 s for each.
        { ...opts, deletedWith: groups[group] },
      ),
  );
  return { groups, rules };
}

/**
 * Creates an Octavia load balancer for the API servers, with a health monitor that excludes failed servers.
 *
 * @param allowedCidrs CIDR blocks that may connect to the load balancer
 * @param externalNetwork external network of the floating IP; without it, the load balancer has no floating IP
 */
export function makeApiLoadBalancer(
  objects: CloudObjects,
  network: MachineNetwork,
  allowedCidrs: string[],
  externalNetwork?: string,
) {
  const { cluster, opts } = objects;
  const name = apiBalancerResource(cluster);
  const common = { name, description: objects.described() };
  const { subnetId: vipSubnetId } = network;
  const balancer = new LoadBalancer(
    name,
    { ...common, ...(vipSubnetId === undefined ? { vipNetworkId: network.id } : { vipSubnetId }) },
    // A new address would break every certificate and every kubelet configuration.
    { ...opts, ignoreChanges: ["vipNetworkId", "vipSubnetId"] },
  );
  const port = { protocol: "TCP", protocolPort: API_SERVER_PORT };
  const listener = new Listener(
    name,
    { ...common, loadbalancerId: balancer.id, ...port, allowedCidrs },
    opts,
  );
  const backend = { listenerId: listener.id, protocol: "TCP", lbMethod: "ROUND_ROBIN" };
  const { id: poolId } = new Pool(name, { ...common, ...backend }, opts);
  new Monitor(name, { name, poolId, type: "TCP", delay: 5, timeout: 3, maxRetries: 2 }, opts);
  return {
    /** Address in the machines' network at which nodes reach the API. */
    address: balancer.vipAddress,
    /** Public address. */
    floatingIp: externalNetwork
      ? objects.floatingIp(name, externalNetwork, balancer.vipPortId, network.way)
      : undefined,
    /** Adds a control plane as a member. */
    add: (machine: string, address: pulumi.Input<string>) => {
      const member = { name: machine, poolId, address, protocolPort: API_SERVER_PORT };
      new Member(`${cluster}-${machine}`, member, opts);
    },
  };
}
