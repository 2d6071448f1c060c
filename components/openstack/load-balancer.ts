import { API_SERVER_PORT } from "../../lib/validation/ports";
import * as pulumi from "@pulumi/pulumi";
import { Listener } from "@pulumi/openstack/loadbalancer/listener";
import { LoadBalancer } from "@pulumi/openstack/loadbalancer/loadBalancer";
import { Member } from "@pulumi/openstack/loadbalancer/member";
import { Monitor } from "@pulumi/openstack/loadbalancer/monitor";
import { Pool } from "@pulumi/openstack/loadbalancer/pool";
import { FloatingIp } from "@pulumi/openstack/networking/floatingIp";
import { FloatingIpAssociate } from "@pulumi/openstack/networking/floatingIpAssociate";
import { markedDescription } from "../../lib/pulumi/marks";
import type { MachineNetwork } from "./network";
import { apiBalancerResource } from "../../providers/kubeadm/plan/resource-names";

export interface ApiLoadBalancer {
  /** Address in the machines' network at which nodes reach the API. */
  address: pulumi.Output<string>;
  /** Public address; absent without `floatingIp`. */
  floatingIp?: pulumi.Output<string>;
  /** Adds a control plane as a member. */
  add(machine: string, address: pulumi.Input<string>): void;
}

/** Creates an Octavia load balancer for the API servers, with a health monitor that excludes failed servers. */
export function makeApiLoadBalancer(
  cluster: string,
  args: {
    network: MachineNetwork;
    /** CIDR blocks that may connect to the load balancer. */
    allowedCidrs: string[];
    /** External network of the floating IP; without it, the load balancer has no floating IP. */
    externalNetwork?: string;
    mark: pulumi.Input<string>;
  },
  opts: pulumi.CustomResourceOptions,
): ApiLoadBalancer {
  const name = apiBalancerResource(cluster);
  const description = pulumi.output(args.mark).apply((mark) => markedDescription(mark));
  const { network } = args;
  const balancer = new LoadBalancer(
    name,
    {
      name,
      description,
      ...(network.subnetId === undefined ? { vipNetworkId: network.id } : { vipSubnetId: network.subnetId }),
    },
    // A new address would break every certificate and every kubelet configuration.
    { ...opts, ignoreChanges: ["vipNetworkId", "vipSubnetId"] },
  );
  const listener = new Listener(
    name,
    {
      name,
      description,
      loadbalancerId: balancer.id,
      protocol: "TCP",
      protocolPort: API_SERVER_PORT,
      allowedCidrs: args.allowedCidrs,
    },
    opts,
  );
  const pool = new Pool(
    name,
    { name, description, listenerId: listener.id, protocol: "TCP", lbMethod: "ROUND_ROBIN" },
    opts,
  );
  new Monitor(name, { name, poolId: pool.id, type: "TCP", delay: 5, timeout: 3, maxRetries: 2 }, opts);
  return {
    address: balancer.vipAddress,
    ...(args.externalNetwork === undefined
      ? {}
      : { floatingIp: floatingAddress(name, balancer, args.externalNetwork, network, description, opts) }),
    add: (machine, address) => {
      const member = { name: machine, poolId: pool.id, address, protocolPort: API_SERVER_PORT };
      new Member(`${cluster}-${machine}`, member, opts);
    },
  };
}

function floatingAddress(
  name: string,
  balancer: LoadBalancer,
  externalNetwork: string,
  network: MachineNetwork,
  description: pulumi.Output<string>,
  opts: pulumi.CustomResourceOptions,
): pulumi.Output<string> {
  const ip = new FloatingIp(name, { pool: externalNetwork, description }, opts);
  new FloatingIpAssociate(
    name,
    { floatingIp: ip.address, portId: balancer.vipPortId },
    { ...opts, dependsOn: network.way },
  );
  return ip.address;
}
