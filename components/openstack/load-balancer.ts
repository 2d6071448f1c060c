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

/** Port of the API, on the load balancer and on the control planes. */
export const API_PORT = 6443;

export interface ApiLoadBalancer {
  /** Address in the machines' network, by which the nodes reach the API. */
  address: pulumi.Output<string>;
  /** Address for people, when a floating IP was asked for. */
  floatingIp?: pulumi.Output<string>;
  /** Adds a control plane. */
  add(machine: string, address: pulumi.Input<string>): void;
}

/** Octavia's load balancer in front of the API servers. A server that does not answer gets no connections. */
export function makeApiLoadBalancer(
  cluster: string,
  args: {
    network: MachineNetwork;
    /** Blocks that may reach it. */
    allowedCidrs: string[];
    /** Where its floating IP comes from; absent: it has none. */
    externalNetwork?: string;
    mark: pulumi.Input<string>;
  },
  opts: pulumi.CustomResourceOptions,
): ApiLoadBalancer {
  const name = `${cluster}-api`;
  const description = pulumi.output(args.mark).apply((mark) => markedDescription(mark));
  const { network } = args;
  const balancer = new LoadBalancer(
    name,
    {
      name,
      description,
      ...(network.subnetId === undefined ? { vipNetworkId: network.id } : { vipSubnetId: network.subnetId }),
    },
    // every certificate and every kubelet holds its address
    { ...opts, ignoreChanges: ["vipNetworkId", "vipSubnetId"] },
  );
  const listener = new Listener(
    name,
    {
      name,
      description,
      loadbalancerId: balancer.id,
      protocol: "TCP",
      protocolPort: API_PORT,
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
      const member = { name: machine, poolId: pool.id, address, protocolPort: API_PORT };
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
