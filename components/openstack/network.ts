import * as pulumi from "@pulumi/pulumi";
import { Network } from "@pulumi/openstack/networking/network";
import { Router } from "@pulumi/openstack/networking/router";
import { RouterInterface } from "@pulumi/openstack/networking/routerInterface";
import { Subnet } from "@pulumi/openstack/networking/subnet";
import { markedDescription } from "../../lib/pulumi/marks";
import { EXISTING_NETWORK, type NetworkKey } from "../../providers/openstack/plan/machine";
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
 */
export function makeNetworks(
  cluster: string,
  args: {
    network: NetworkArgs;
    /** Networks of the machines of this run. */
    inUse: readonly NetworkKey[];
    externalNetworkId: pulumi.Output<string | undefined>;
    mark: pulumi.Input<string>;
  },
  opts: pulumi.CustomResourceOptions,
): Map<NetworkKey, MachineNetwork> {
  const wanted = networkKey(args.network);
  const keys = [...new Set([wanted, ...args.inUse])];
  const description = pulumi.output(args.mark).apply((mark) => markedDescription(mark));
  const own = keys.filter((key) => !key.startsWith(EXISTING_NETWORK));
  const router =
    own.length === 0
      ? undefined
      : new Router(
          cluster,
          {
            name: cluster,
            description,
            adminStateUp: true,
            externalNetworkId: args.externalNetworkId as pulumi.Output<string>,
          },
          opts,
        );
  const dns = "dnsNameservers" in args.network ? args.network.dnsNameservers : [];
  const make = (key: NetworkKey): MachineNetwork => {
    if (!router || key.startsWith(EXISTING_NETWORK))
      return { id: key.slice(EXISTING_NETWORK.length), way: [] };
    const name = `${cluster}-${key.replace("/", "-")}`;
    const network = new Network(name, { name, description, adminStateUp: true }, opts);
    const subnet = new Subnet(
      name,
      { name, description, networkId: network.id, cidr: key, ipVersion: 4, dnsNameservers: dns },
      opts,
    );
    const way = new RouterInterface(name, { routerId: router.id, subnetId: subnet.id }, opts);
    return { id: network.id, subnetId: subnet.id, way: [way] };
  };
  return new Map(keys.map((key) => [key, make(key)]));
}
