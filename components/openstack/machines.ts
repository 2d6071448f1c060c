import * as pulumi from "@pulumi/pulumi";
import { Instance } from "@pulumi/openstack/compute/instance";
import { Keypair } from "@pulumi/openstack/compute/keypair";
import { ServerGroup } from "@pulumi/openstack/compute/serverGroup";
import { FloatingIp } from "@pulumi/openstack/networking/floatingIp";
import { FloatingIpAssociate } from "@pulumi/openstack/networking/floatingIpAssociate";
import { Port } from "@pulumi/openstack/networking/port";
import { shortHash } from "../../lib/short-hash";
import { markedDescription } from "../../lib/pulumi/marks";
import { markedName } from "../../providers/openstack/plan/leftovers";
import { MARK_KEY, metadataOf, type MachineRecord } from "../../providers/openstack/plan/machine-record";
import type { AntiAffinity, NetworkKey, Pool } from "../../providers/openstack/plan/pool";
import { ServerHostKey } from "../../providers/openstack/resources/server-host-key";
import type { CloudPlan } from "../../providers/openstack/resources/cloud-plan";
import type { JumpHost, SshCredentials } from "../../providers/kubeadm/plan/machine";
import type { MachineArgs } from "../kubeadm/kubeadm-cluster-args";
import type { MachineNetwork } from "./network";
import type { SecurityGroups } from "./security-groups";

/**
 * What a server was made with. A change of any of it is another machine with another name, or, of the key and the user
 * data, holds for new machines only; so the provider never replaces a server by itself.
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

/** The key for new machines. Another key is another object, since machines hold the name of theirs. */
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

/** The server groups that keep the machines of a pool on different hosts, by pool. */
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
  /** Absent when the pool is no longer wanted, and the machine waits for its turn to leave. */
  pool?: Pool;
  plan: CloudPlan;
  networks: ReadonlyMap<NetworkKey, MachineNetwork>;
  securityGroups: SecurityGroups;
  /** What has to be there before the machine. */
  after: pulumi.Resource[];
  keypair: Keypair;
  serverGroup?: ServerGroup;
  userData?: string;
  /** Where floating IPs come from. */
  externalNetwork?: string;
  /** Blocks besides its own address from which the machine may send: the pods, without encapsulation. */
  podCidr?: string;
  sshPort?: number;
  /** What the cluster's objects carry in the cloud. */
  mark: pulumi.Input<string>;
}

/** How a machine's host key is asked for. */
export interface FirstContact {
  cloud?: string;
  region?: string;
  jumpHost?: pulumi.Output<JumpHost>;
  credentials: pulumi.Output<SshCredentials>;
  timeoutSeconds: number;
}

/** A machine of the cloud, and how the cluster takes it. */
export interface CloudMachine {
  server: Instance;
  /** Its address in the machines' network. */
  fixedIp: pulumi.Output<string>;
  args: MachineArgs;
}

/** One machine: its port, its server, and its floating IP when it has one. */
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
  // the port has its address before the server is there to use it
  const fixedIp = pulumi.all([port.allFixedIps, server.id]).apply(([ips]) => ips[0] ?? "");
  const address = pool?.floatingIp ? floatingAddress(name, port, server, network, args, opts) : fixedIp;
  const sshPort = args.sshPort ?? 22;
  return {
    server,
    fixedIp,
    args: {
      name: machine.name,
      role: machine.shape.role,
      ...(machine.shape.role === "worker" ? { pool: machine.pool } : {}),
      address,
      port: sshPort,
      internalAddress: fixedIp,
      // only the control planes of a new cluster have their floating IPs in their certificates
      ...(machine.shape.role === "control-plane" ? { certificateName: "kubernetes" } : {}),
      labels: pool?.labels ?? {},
      taints: pool?.taints ?? [],
    },
  };
}

/** The machine with its host key, as its console and its first answer show it. */
export function withHostKey(
  cluster: string,
  machine: CloudMachine,
  contact: FirstContact,
  opts: pulumi.CustomResourceOptions,
): CloudMachine {
  const { server, args } = machine;
  const { hostKey } = new ServerHostKey(
    `${cluster}-${args.name}-host-key`,
    { machine: args.name, server: server.id, address: args.address, port: args.port ?? 22, ...contact },
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
      securityGroupIds: machine.shape.role === "control-plane" ? [nodes, controlPlanes] : [nodes],
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
  const imageId = plan.found.apply(({ images }) => images[shape.image] as string);
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
      flavorId: plan.found.apply(({ flavors }) => flavors[shape.flavor] as string),
      ...disk,
      ...(shape.zone === undefined ? {} : { availabilityZone: shape.zone }),
      keyPair: keypair.name,
      ...(userData === undefined ? {} : { userData }),
      networks: [{ port: port.id }],
      ...(serverGroup ? { schedulerHints: [{ group: serverGroup.id }] } : {}),
      metadata: { ...metadataOf(cluster, machine), [MARK_KEY]: mark },
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
