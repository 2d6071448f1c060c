import { SSH_PORT } from "../../lib/validation/ports";
import * as pulumi from "@pulumi/pulumi";
import { Instance } from "@pulumi/openstack/compute/instance";
import { Keypair } from "@pulumi/openstack/compute/keypair";
import { ServerGroup } from "@pulumi/openstack/compute/serverGroup";
import { FloatingIp } from "@pulumi/openstack/networking/floatingIp";
import { FloatingIpAssociate } from "@pulumi/openstack/networking/floatingIpAssociate";
import { Port } from "@pulumi/openstack/networking/port";
import { whenMade } from "../../lib/pulumi/left-out";
import { shortHash } from "../../lib/short-hash";
import { markedDescription } from "../../lib/pulumi/marks";
import { markedName } from "../../providers/openstack/plan/leftovers";
import {
  MACHINE_FIELDS,
  MARK_KEY,
  metadataOf,
  type AntiAffinity,
  type MachineRecord,
  type NetworkKey,
  type Pool,
} from "../../providers/openstack/plan/machine";
import { ServerHostKey } from "../../providers/openstack/resources/server-host-key";
import type { CloudPlan } from "../../providers/openstack/resources/cloud-plan";
import type { JumpHost, SshCredentials } from "../../providers/kubeadm/plan/machine";
import type { MachineArgs } from "../kubeadm/kubeadm-cluster-args";
import type { MachineNetwork } from "./network";
import type { SecurityGroups } from "./security-groups";

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

const POLICIES: Readonly<Record<Exclude<AntiAffinity, "none">, string>> = {
  soft: "soft-anti-affinity",
  strict: "anti-affinity",
};

/** Creates the keypair for new machines. Its name contains a hash of the key, because servers refer to it by name. */
export function makeKeypair(
  cluster: string,
  publicKey: string,
  mark: pulumi.Input<string>,
  opts: pulumi.CustomResourceOptions,
): Keypair {
  const resource = `${cluster}-${shortHash([publicKey])}`;
  const name = pulumi.output(mark).apply((known) => markedName(resource, known));
  return new Keypair(resource, { name, publicKey }, opts);
}

/** Creates the server groups that place the machines of a pool on different hosts. Returns them by pool name. */
export function makeServerGroups(
  cluster: string,
  pools: readonly Pool[],
  mark: pulumi.Input<string>,
  opts: pulumi.CustomResourceOptions,
): Map<string, ServerGroup> {
  return new Map(
    pools.flatMap((pool) => {
      if (pool.antiAffinity === "none") return [];
      const resource = `${cluster}-${pool.name}-${pool.antiAffinity}`;
      const name = pulumi.output(mark).apply((known) => markedName(resource, known));
      const policies = [POLICIES[pool.antiAffinity]];
      return [[pool.name, new ServerGroup(resource, { name, policies }, opts)]];
    }),
  );
}

export interface MakeMachineArgs {
  machine: MachineRecord;
  /** Absent when the pool was removed from the configuration and a later run deletes the machine. */
  pool?: Pool;
  plan: CloudPlan;
  networks: ReadonlyMap<NetworkKey, MachineNetwork>;
  securityGroups: SecurityGroups;
  /** Resources that the server depends on. */
  after: pulumi.Resource[];
  keypair: Keypair;
  serverGroup?: ServerGroup;
  userData?: string;
  /** Network that floating IPs come from. */
  externalNetwork?: string;
  /** CIDR block of pods without encapsulation: the port allows it as a source besides its own address. */
  podCidr?: string;
  sshPort?: number;
  /** Owner tag of the cluster's objects. */
  mark: pulumi.Input<string>;
}

/** Connection options for reading a machine's SSH host key. */
export interface FirstContact {
  cloud?: string;
  region?: string;
  jumpHost?: pulumi.Output<JumpHost>;
  credentials: pulumi.Output<SshCredentials>;
  timeoutSeconds: number;
}

/** A machine of the cloud, with its arguments for the cluster component. */
export interface CloudMachine {
  server: Instance;
  /** Address in the machines' network. */
  fixedIp: pulumi.Output<string>;
  args: MachineArgs;
}

/**
 * Creates one machine: its port, its server and, where the pool has them, its floating IP.
 *
 * @throws Error when the machine's network is not in `args.networks`
 */
export function makeMachine(
  cluster: string,
  args: MakeMachineArgs,
  opts: pulumi.CustomResourceOptions,
): CloudMachine {
  const { machine, pool } = args;
  const name = `${cluster}-${machine.name}`;
  const network = args.networks.get(machine.shape.network);
  if (!network)
    throw new Error(`${machine.name} lies in a network that is not made: ${machine.shape.network}`);
  const port = makePort(name, network, args, opts);
  const server = makeServer(name, cluster, port, args, opts);
  // Depends on the server, because the port has its address before the server exists.
  const fixedIp = whenMade(
    pulumi.all([port.allFixedIps, server.id]).apply(([ips]) => ips),
    (ips) => ips[0] ?? "",
  );
  const address = pool?.floatingIp ? floatingAddress(name, port, server, network, args, opts) : fixedIp;
  const sshPort = args.sshPort ?? SSH_PORT;
  return {
    server,
    fixedIp,
    args: {
      name: machine.name,
      role: machine.role,
      ...(machine.role === "worker" ? { pool: machine.pool } : {}),
      address,
      port: sshPort,
      internalAddress: fixedIp,
      // Only control planes of a new cluster have their floating IPs in their certificates.
      ...(machine.role === "control-plane" ? { certificateName: "kubernetes" } : {}),
      labels: pool?.labels ?? {},
      taints: pool?.taints ?? [],
    },
  };
}

/** Returns the machine with its host key, which is read over SSH and compared with the server's console. */
export function withHostKey(
  cluster: string,
  machine: CloudMachine,
  contact: FirstContact,
  opts: pulumi.CustomResourceOptions,
): CloudMachine {
  const { server, args } = machine;
  const { hostKey } = new ServerHostKey(
    `${cluster}-${args.name}-host-key`,
    { machine: args.name, server: server.id, address: args.address, port: args.port ?? SSH_PORT, ...contact },
    { ...(opts.parent ? { parent: opts.parent } : {}), ignoreChanges: ["address", "port"] },
  );
  return { ...machine, args: { ...args, hostKey } };
}

function described(mark: pulumi.Input<string>): pulumi.Output<string> {
  return pulumi.output(mark).apply((known) => markedDescription(known));
}

function makePort(
  name: string,
  network: MachineNetwork,
  { machine, securityGroups, podCidr, mark }: MakeMachineArgs,
  opts: pulumi.CustomResourceOptions,
): Port {
  const { nodes, "control-planes": controlPlanes } = securityGroups;
  return new Port(
    name,
    {
      name: machine.name,
      description: described(mark),
      adminStateUp: true,
      networkId: network.id,
      ...(network.subnetId === undefined ? {} : { fixedIps: [{ subnetId: network.subnetId }] }),
      securityGroupIds: machine.role === "control-plane" ? [nodes, controlPlanes] : [nodes],
      ...(podCidr === undefined ? {} : { allowedAddressPairs: [{ ipAddress: podCidr }] }),
    },
    opts,
  );
}

function makeServer(
  name: string,
  cluster: string,
  port: Port,
  { machine, plan, keypair, serverGroup, userData, after, mark }: MakeMachineArgs,
  opts: pulumi.CustomResourceOptions,
): Instance {
  const { shape } = machine;
  const imageId = whenMade(plan.found, ({ images }) => images[shape.image] as string);
  const disk = shape.rootVolume
    ? {
        blockDevices: [
          {
            uuid: imageId,
            sourceType: "image",
            destinationType: "volume",
            volumeSize: shape.rootVolume.size,
            ...(shape.rootVolume.type === undefined ? {} : { volumeType: shape.rootVolume.type }),
            bootIndex: 0,
            deleteOnTermination: true,
          },
        ],
      }
    : { imageId };
  return new Instance(
    name,
    {
      name: machine.name,
      flavorId: whenMade(plan.found, ({ flavors }) => flavors[shape.flavor] as string),
      ...disk,
      ...(shape.zone === undefined ? {} : { availabilityZone: shape.zone }),
      keyPair: keypair.name,
      ...(userData === undefined ? {} : { userData }),
      networks: [{ port: port.id }],
      ...(serverGroup ? { schedulerHints: [{ group: serverGroup.id }] } : {}),
      metadata: { ...metadataOf(MACHINE_FIELDS, cluster, machine), [MARK_KEY]: mark },
    },
    { ...opts, ignoreChanges: FIXED, dependsOn: after },
  );
}

function floatingAddress(
  name: string,
  port: Port,
  server: Instance,
  network: MachineNetwork,
  { externalNetwork, mark }: MakeMachineArgs,
  opts: pulumi.CustomResourceOptions,
): pulumi.Output<string> {
  if (externalNetwork === undefined) throw new Error(`${name} has a floating IP and no external network`);
  const ip = new FloatingIp(name, { pool: externalNetwork, description: described(mark) }, opts);
  const association = new FloatingIpAssociate(
    name,
    { floatingIp: ip.address, portId: port.id },
    { ...opts, dependsOn: [server, ...network.way] },
  );
  return pulumi.all([association.floatingIp, association.id]).apply(([address]) => address);
}
