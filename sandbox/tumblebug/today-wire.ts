import { todayResources } from "./today-resources";
import type { StoredConnection, StoredMachine } from "./state";
import {
  listOf,
  namesOf,
  objectOf,
  Refusal,
  sorted,
  summary,
  textOf,
  type Body,
  type GroupRequest,
  type Wire,
} from "./wire";

/** Today's API (0.13): infras, nodes, node groups; 200 for creations, and 400 or 500 for what is missing. */
export const todayWire: Wire = {
  generation: "infra",
  infrastructure: "infra",
  machine: "node",
  group: "nodegroup",
  checkInfrastructure: "checkInfra",
  checkMachine: "checkNode",
  created: (kind) => (kind === "vNet" ? 201 : 200),
  perSecond: 50,
  checksAssociations: true,

  missing: (kind, id, does) => {
    switch (kind) {
      case "vNet":
        return new Refusal(404, `does not exist, vNet: ${id}`);
      case "securityGroup":
      case "sshKey":
        return does === "read"
          ? new Refusal(400, `Failed to find ${kind} ${id}`)
          : new Refusal(400, `The ${kind} ${id} does not exist.`);
      case "mcis":
        return new Refusal(500, `The infra ${id} does not exist.`);
      case "machine":
        return new Refusal(does === "read" ? 500 : 400, `The node ${id} does not exist.`);
      case "nlb":
        return new Refusal(400, `Failed to find the NLB ${id}`);
      case "connection":
        return new Refusal(500, `Cannot find the connection ${id}`);
      case "image":
      case "spec":
        return new Refusal(500, `Failed to find ${kind} ${id}`);
    }
  },
  existing: (kind, id, namespace) => {
    if (kind === "vNet") return new Refusal(409, `already exists, vNet: ${id}`);
    if (kind === "mcis") return new Refusal(500, `Infra '${id}' already exists in namespace '${namespace}'`);
    return new Refusal(500, `The ${kind} ${id} already exists.`);
  },
  relayed: (words) => new Refusal(500, words),
  invalid: (words) => new Refusal(400, words),

  ...todayResources,
  showConnection: ({ name, provider, region, zone }) => ({
    configName: name,
    providerName: provider,
    driverName: `${provider}-driver-v1.0.so`,
    credentialName: provider,
    credentialHolder: "admin",
    regionZoneInfoName: name,
    regionZoneInfo: { assignedRegion: region, assignedZone: zone },
    regionDetail: { regionId: region, regionName: region, zones: zone === "" ? [] : [zone] },
    regionRepresentative: true,
    verified: true,
  }),
  showCloudSpec: ({ name, region, vcpus, mebibytes }) => ({
    Region: region,
    Name: name,
    VCpu: { Count: String(vcpus), ClockGHz: "2.5" },
    MemSizeMib: String(mebibytes),
    DiskSizeGB: "-1",
  }),
  readCloudSpecName: (body) => textOf(body, "cspResourceId"),
  showCloudImage: ({ name, guestOs }) => ({
    IId: { NameId: name, SystemId: name },
    Name: name,
    OSPlatform: "Linux/UNIX",
    OSDistribution: guestOs,
    ImageStatus: "Available",
  }),
  readCloudImageName: (body) => textOf(body, "cspImageName"),

  readGroups: (body) => listOf(body, "nodeGroups").map(readGroup),
  readGroup,
  readGrowth: (body) => Number(textOf(body, "numNodesToAdd")),
  showInfrastructure: (infrastructure, connections, fresh) => ({
    resourceType: "infra",
    id: infrastructure.id,
    uid: infrastructure.uid,
    name: infrastructure.id,
    status: summary(infrastructure),
    statusCount: { countTotal: infrastructure.machines.length },
    targetStatus: infrastructure.targetStatus,
    targetAction: infrastructure.targetAction,
    installMonAgent: "no",
    label: infrastructure.label,
    systemLabel: "",
    systemMessage: infrastructure.systemMessages.length === 0 ? null : infrastructure.systemMessages,
    description: infrastructure.description,
    node:
      infrastructure.machines.length === 0
        ? null
        : sorted(infrastructure.machines).map((machine) => showMachine(machine, connections)),
    newNodeList: fresh.length === 0 ? null : fresh,
  }),
  showStatus: (infrastructure) => ({
    id: infrastructure.id,
    name: infrastructure.id,
    status: summary(infrastructure),
    statusCount: { countTotal: infrastructure.machines.length },
    targetStatus: infrastructure.targetStatus,
    targetAction: infrastructure.targetAction,
    masterIp: sorted(infrastructure.machines)[0]?.publicAddress ?? "",
    node: sorted(infrastructure.machines).map((machine) => ({
      id: machine.id,
      uid: machine.uid,
      cspResourceId: cloudIdOf(machine),
      name: machine.id,
      status: machine.status,
      targetStatus: machine.targetStatus,
      targetAction: machine.targetAction,
      nativeStatus: machine.status,
      systemMessage: machine.systemMessage,
      publicIp: machine.publicAddress,
      privateIp: machine.privateAddress,
      sshPort: machine.sshPort,
    })),
  }),
  showMachine,
  showDeletion: ({ id, machines }) => ({
    output: [...machines.map((machine) => `[Done] Node: ${machine.id}`), `[Done] Infra: ${id}`],
  }),

  readBalancer: (body) => {
    const target = objectOf(body, "targetGroup");
    return {
      group: textOf(target, "nodeGroupId"),
      type: textOf(body, "type"),
      scope: textOf(body, "scope"),
      port: Number(textOf(objectOf(body, "listener"), "port")),
      targetPort: Number(textOf(target, "port")),
    };
  },
  readBalancerMachines: (body) => namesOf(objectOf(body, "targetGroup"), "nodes"),
  showBalancer: (balancer, connection) => ({
    resourceType: "nlb",
    id: balancer.group,
    uid: balancer.uid,
    cspResourceId: `nlb-${balancer.uid}`,
    cspResourceName: balancer.uid,
    name: balancer.group,
    connectionName: connection,
    Type: balancer.type,
    Scope: balancer.scope,
    listener: {
      protocol: "TCP",
      ip: balancer.address,
      port: String(balancer.port),
      dnsName: "",
      keyValueList: null,
    },
    targetGroup: {
      protocol: "TCP",
      port: String(balancer.targetPort),
      nodeGroupId: balancer.group,
      nodes: balancer.machines,
      KeyValueList: null,
    },
    healthChecker: {
      protocol: "TCP",
      port: "22",
      interval: 10,
      timeout: 10,
      threshold: 3,
      keyValueList: null,
    },
    description: "",
    status: "Available",
    systemLabel: "",
  }),
};

function readGroup(body: Body): GroupRequest {
  return {
    name: textOf(body, "name"),
    size: Number(textOf(body, "nodeGroupSize") || "1"),
    connection: textOf(body, "connectionName"),
    spec: textOf(body, "specId"),
    image: textOf(body, "cspImageName"),
    vNet: textOf(body, "vNetId"),
    subnet: textOf(body, "subnetId"),
    securityGroups: namesOf(body, "securityGroupIds"),
    sshKey: textOf(body, "sshKeyId"),
    user: textOf(body, "nodeUserName"),
    rootDiskType: textOf(body, "rootDiskType"),
    rootDiskSize: textOf(body, "rootDiskSize"),
    label: objectOf(body, "label"),
    description: textOf(body, "description"),
  };
}

function cloudIdOf({ status, uid }: StoredMachine): string {
  return status === "Failed" ? "" : `i-${uid}`;
}

function showMachine(machine: StoredMachine, connections: readonly StoredConnection[]): Body {
  const connection = connections.find(({ name }) => name === machine.connection);
  return {
    resourceType: "node",
    id: machine.id,
    uid: machine.uid,
    cspResourceId: cloudIdOf(machine),
    cspResourceName: machine.uid,
    name: machine.id,
    nodeGroupId: machine.group,
    status: machine.status,
    targetStatus: machine.targetStatus,
    targetAction: machine.targetAction,
    systemMessage: machine.systemMessage,
    label: machine.label,
    description: machine.description,
    region: { region: connection?.region ?? "", zone: connection?.zone ?? "" },
    publicIP: machine.publicAddress,
    privateIP: machine.privateAddress,
    sshPort: machine.sshPort,
    rootDiskType: machine.rootDiskType,
    rootDiskSize: Number(machine.rootDiskSize),
    connectionName: machine.connection,
    specId: machine.spec,
    imageId: machine.image,
    vNetId: machine.vNet,
    subnetId: machine.subnet,
    securityGroupIds: machine.securityGroups,
    sshKeyId: machine.sshKey,
    nodeUserName: machine.user,
  };
}
