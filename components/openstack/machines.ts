import * as pulumi from "@pulumi/pulumi";
import { Instance } from "@pulumi/openstack/compute/instance";
import { Keypair } from "@pulumi/openstack/compute/keypair";
import { ServerGroup } from "@pulumi/openstack/compute/serverGroup";
import { Port } from "@pulumi/openstack/networking/port";
import type { ResourceArgs } from "../../lib/pulumi/dynamic-resource";
import { whenMade } from "../../lib/pulumi/left-out";
import { shortHash } from "../../lib/short-hash";
import { SSH_PORT } from "../../lib/validation/ports";
import {
  MACHINE_FIELDS,
  MARK_KEY,
  metadataOf,
  type MachineRecord,
  type MachineShape,
  type NetworkKey,
  type Pool,
} from "../../providers/openstack/plan/machine";
import { serverGroupResource } from "../../providers/openstack/plan/new-objects";
import {
  ServerHostKey,
  type CloudPlan,
  type ServerHostKeyInputs,
} from "../../providers/openstack/resources/declarations";
import { podNetworkKind } from "../kubeadm/defaults";
import type { MachineArgs } from "../kubeadm/kubeadm-cluster-args";
import type { CloudObjects } from "./cloud-objects";
import type { MachineNetwork, Security } from "./network";
import type { CheckedOpenstack } from "./openstack-cluster-args";

/**
 * Inputs of a server that are fixed at creation. The provider ignores changes to them, so it never replaces a server:
 * most changes result in a new machine with another name; changes to the key and user data apply to new machines only.
 */
const FIXED = [
  "availabilityZone",
  "blockDevices",
  "flavorId",
  "imageId",
  "keyPair",
  "metadata",
  "networks",
  "schedulerHints",
  "userData",
];

const POLICIES = { soft: "soft-anti-affinity", strict: "anti-affinity" };

/** A machine of the cloud, with its arguments for the cluster component. */
export interface CloudMachine {
  server: Instance;
  /** Address in the machines' network. */
  fixedIp: pulumi.Output<string>;
  args: MachineArgs;
}

/**
 * Creates machines: for each its port, its server and, where the pool has them, its floating IP.
 *
 * @throws Error when a machine's network is not in `networks`
 */
export function makeMachines(
  objects: CloudObjects,
  args: CheckedOpenstack,
  machines: readonly MachineRecord[],
  { found }: CloudPlan,
  networks: ReadonlyMap<NetworkKey, MachineNetwork>,
  security: Security,
): CloudMachine[] {
  const { cluster, opts } = objects;
  const { userData, externalNetwork } = { ...args, ...args.network };
  const keyPair = makeKeypair(objects, args.keypair.publicKey).name;
  const serverGroups = makeServerGroups(objects, args.pools);
  return machines.map((machine): CloudMachine => {
    const { name, role, shape } = machine;
    const resource = `${cluster}-${name}`;
    const network = networks.get(shape.network);
    if (!network) throw new Error(`${name} is in a network that does not exist: ${shape.network}`);
    // Absent when the pool was removed from the configuration and a later run deletes the machine.
    const pool = args.pools.find((each) => each.name === machine.pool);
    const port = makePort(objects, args, machine, network, security);
    const group = serverGroups.get(machine.pool);
    const server = new Instance(
      resource,
      {
        name,
        flavorId: whenMade(found, ({ flavors }) => flavors[shape.flavor] as string),
        ...diskOf(
          shape,
          whenMade(found, ({ images }) => images[shape.image] as string),
        ),
        availabilityZone: shape.zone,
        keyPair,
        userData,
        networks: [{ port: port.id }],
        schedulerHints: group && [{ group: group.id }],
        metadata: { ...metadataOf(MACHINE_FIELDS, cluster, machine), [MARK_KEY]: objects.mark },
      },
      // A machine reads its metadata through the router at boot.
      { ...opts, ignoreChanges: FIXED, dependsOn: [...security.rules, ...network.way] },
    );
    // Depends on the server, because the port has its address before the server exists.
    const ips = pulumi.all([port.allFixedIps, server.id]).apply(([addresses]) => addresses);
    const fixedIp = whenMade(ips, ([first = ""]) => first);
    if (pool?.floatingIp && externalNetwork === undefined)
      throw new Error(`${resource} has a floating IP and no external network`);
    const address =
      pool?.floatingIp && externalNetwork
        ? objects.floatingIp(resource, externalNetwork, port.id, [server, ...network.way])
        : fixedIp;
    const common = { name, role, address, port: args.sshPort, internalAddress: fixedIp };
    const { labels = {}, taints = [] } = pool ?? {};
    return {
      server,
      fixedIp,
      args:
        role === "worker"
          ? { ...common, pool: machine.pool, labels, taints }
          : // Only control planes of a new cluster have their floating IPs in their certificates.
            { ...common, certificateName: "kubernetes", labels, taints },
    };
  });
}

/** Creates the keypair for new machines. Its name contains a hash of the key, because servers refer to it by name. */
function makeKeypair(objects: CloudObjects, publicKey: string): Keypair {
  const resource = `${objects.cluster}-${shortHash([publicKey])}`;
  return new Keypair(resource, { name: objects.named(resource), publicKey }, objects.opts);
}

/** Creates the server groups that place the machines of a pool on different hosts. Returns them by pool name. */
function makeServerGroups(objects: CloudObjects, pools: readonly Pool[]): Map<string, ServerGroup> {
  return new Map(
    pools.flatMap(({ name, antiAffinity }) => {
      if (antiAffinity === "none") return [];
      const resource = serverGroupResource(objects.cluster, { name, antiAffinity });
      const inputs = { name: objects.named(resource), policies: [POLICIES[antiAffinity]] };
      return [[name, new ServerGroup(resource, inputs, objects.opts)]];
    }),
  );
}

function makePort(
  objects: CloudObjects,
  { cluster: { network } }: CheckedOpenstack,
  { name, role }: MachineRecord,
  { id: networkId, subnetId }: MachineNetwork,
  { groups }: Security,
): Port {
  return new Port(
    `${objects.cluster}-${name}`,
    {
      name,
      description: objects.described(),
      adminStateUp: true,
      networkId,
      fixedIps: subnetId === undefined ? undefined : [{ subnetId }],
      securityGroupIds:
        role === "control-plane" ? [groups.nodes.id, groups["control-planes"].id] : [groups.nodes.id],
      // The built-in network sends the packets of pods without encapsulation.
      allowedAddressPairs:
        podNetworkKind({ network }) === "bridge" ? [{ ipAddress: network.podSubnet }] : undefined,
    },
    objects.opts,
  );
}

/** Returns the inputs of a server's disk: a new volume, or the flavor's own disk. */
function diskOf({ rootVolume }: MachineShape, imageId: pulumi.Output<string>) {
  if (!rootVolume) return { imageId };
  const source = { uuid: imageId, sourceType: "image", destinationType: "volume", bootIndex: 0 };
  const { size: volumeSize, type: volumeType } = rootVolume;
  return { blockDevices: [{ ...source, volumeSize, volumeType, deleteOnTermination: true }] };
}

/** Returns the machine with its host key, which is read over SSH and compared with the server's console. */
export function withHostKey(
  cluster: string,
  machine: CloudMachine,
  contact: Omit<ResourceArgs<ServerHostKeyInputs>, "machine" | "server" | "address" | "port">,
  parent: pulumi.Resource,
): CloudMachine {
  const { server, args } = machine;
  const { name, address, port = SSH_PORT } = args;
  const { hostKey } = new ServerHostKey(
    `${cluster}-${name}-host-key`,
    { machine: name, server: server.id, address, port, ...contact },
    { parent, ignoreChanges: ["address", "port"] },
  );
  return { ...machine, args: { ...args, hostKey } };
}
