import { eraResources } from "./era-resources";
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

/** The API of CB-Tumblebug 0.7.0: MCIS, VMs, sub groups; 500 for what exists and for what is missing at a deletion. */
export const eraWire: Wire = {
  generation: "mcis",
  infrastructure: "mcis",
  machine: "vm",
  group: "subgroup",
  checkInfrastructure: "checkMcis",
  checkMachine: "checkVm",
  created: () => 201,
  perSecond: 20,
  checksAssociations: false,

  missing: (kind, id, does) => {
    if (kind === "connection")
      return new Refusal(404, `{"message":"connection config '${id}' does not exist!"}`, true);
    if (kind === "machine" && does === "delete") return new Refusal(500, "Failed to delete the VM info");
    if (kind === "nlb") return new Refusal(404, `Failed to find the NLB ${id}`);
    if (kind === "mcis" || kind === "machine")
      return new Refusal(
        does === "read" ? 404 : 500,
        `The ${kind === "mcis" ? "mcis" : "vm"} ${id} does not exist.`,
      );
    return does === "read"
      ? new Refusal(404, `Failed to find ${kind} ${id}`)
      : new Refusal(500, `The ${kind} ${id} does not exist.`);
  },
  existing: (kind, id) => new Refusal(500, `The ${kind === "nlb" ? "NLB" : kind} ${id} already exists.`),
  relayed: (words) => new Refusal(500, `${JSON.stringify({ message: words })}\n`),
  invalid: (words) => new Refusal(500, words),

  ...eraResources,
  showConnection: (connection) => ({
    ConfigName: connection.name,
    ProviderName: connection.provider.toUpperCase(),
    DriverName: `${connection.provider}-drv`,
    CredentialName: `${connection.provider}-cred`,
    RegionName: `${connection.provider}-${connection.region}`,
    Location: {
      latitude: "37.3",
      longitude: "126.9",
      briefAddr: connection.region,
      cloudType: connection.provider,
      nativeRegion: connection.region,
    },
  }),
  showCloudSpec: ({ name, region, vcpus, mebibytes }) => ({
    Region: region,
    Name: name,
    VCpu: { Count: String(vcpus), Clock: "2.5" },
    Mem: String(mebibytes),
    Gpu: null,
    KeyValueList: [],
  }),
  readCloudSpecName: (body) => textOf(body, "cspSpecName"),
  showCloudImage: ({ name, guestOs }) => ({
    IId: { NameId: name, SystemId: name },
    GuestOS: guestOs,
    Status: "available",
    KeyValueList: [],
  }),
  readCloudImageName: (body) => textOf(body, "cspImageId"),

  readGroups: (body) => listOf(body, "vm").map(readGroup),
  readGroup,
  readGrowth: (body) => Number(textOf(body, "numVMsToAdd")),
  showInfrastructure: (infrastructure, connections, fresh) => ({
    id: infrastructure.id,
    name: infrastructure.id,
    status: summary(infrastructure),
    statusCount: { countTotal: infrastructure.machines.length },
    targetStatus: infrastructure.targetStatus,
    targetAction: infrastructure.targetAction,
    installMonAgent: "no",
    label: infrastructure.label,
    systemLabel: "",
    systemMessage: infrastructure.systemMessages.join("; "),
    description: infrastructure.description,
    vm: sorted(infrastructure.machines).map((machine) => showMachine(machine, connections)),
    newVmList: fresh.length === 0 ? null : fresh,
  }),
  showStatus: (infrastructure) => ({
    id: infrastructure.id,
    name: infrastructure.id,
    status: summary(infrastructure),
    statusCount: { countTotal: infrastructure.machines.length },
    targetStatus: infrastructure.targetStatus,
    targetAction: infrastructure.targetAction,
    masterIp: sorted(infrastructure.machines)[0]?.publicAddress ?? "",
    vm: sorted(infrastructure.machines).map((machine) => ({
      id: machine.id,
      name: machine.id,
      status: machine.status,
      targetStatus: machine.targetStatus,
      targetAction: machine.targetAction,
      nativeStatus: machine.status,
      systemMessage: machine.systemMessage,
      publicIp: publicAddress(machine),
      privateIp: machine.privateAddress,
      sshPort: String(machine.sshPort),
      cspVmId: `i-${machine.uid}`,
    })),
  }),
  showMachine,
  showDeletion: ({ id, machines }) => ({
    output: [...machines.map((machine) => `VM: ${machine.id} [Done]`), `MCIS: ${id} [Done]`],
  }),

  readBalancer: (body) => {
    const target = objectOf(body, "targetGroup");
    return {
      group: textOf(target, "subGroupId"),
      type: textOf(body, "type"),
      scope: textOf(body, "scope"),
      port: Number(textOf(objectOf(body, "listener"), "port")),
      targetPort: Number(textOf(target, "port")),
    };
  },
  readBalancerMachines: (body) => namesOf(objectOf(body, "targetGroup"), "vms"),
  showBalancer: (balancer, connection) => ({
    id: balancer.group,
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
      subGroupId: balancer.group,
      vms: balancer.machines,
      KeyValueList: null,
    },
    healthChecker: { protocol: "TCP", port: "22", interval: 10, timeout: 10, threshold: 3 },
    CreatedTime: "2022-12-28T01:02:03Z",
    description: "",
    cspNLBId: `nlb-${balancer.uid}`,
    status: "",
    systemLabel: "",
  }),
};

function readGroup(body: Body): GroupRequest {
  return {
    name: textOf(body, "name"),
    size: Number(textOf(body, "subGroupSize") || "1"),
    connection: textOf(body, "connectionName"),
    spec: textOf(body, "specId"),
    image: textOf(body, "imageId"),
    vNet: textOf(body, "vNetId"),
    subnet: textOf(body, "subnetId"),
    securityGroups: namesOf(body, "securityGroupIds"),
    sshKey: textOf(body, "sshKeyId"),
    user: textOf(body, "vmUserAccount"),
    rootDiskType: textOf(body, "rootDiskType"),
    rootDiskSize: textOf(body, "rootDiskSize"),
    label: textOf(body, "label"),
    description: textOf(body, "description"),
  };
}

function publicAddress(machine: StoredMachine): string {
  return machine.status === "Failed" ? "empty" : machine.publicAddress;
}

function showMachine(machine: StoredMachine, connections: readonly StoredConnection[]): Body {
  const connection = connections.find(({ name }) => name === machine.connection);
  return {
    id: machine.id,
    name: machine.id,
    idByCSP: "",
    subGroupId: machine.group,
    status: machine.status,
    targetStatus: machine.targetStatus,
    targetAction: machine.targetAction,
    systemMessage: machine.systemMessage,
    label: machine.label,
    description: machine.description,
    region: { Region: connection?.region ?? "", Zone: connection?.zone ?? "" },
    publicIP: publicAddress(machine),
    privateIP: machine.privateAddress,
    sshPort: String(machine.sshPort),
    rootDiskType: machine.rootDiskType,
    rootDiskSize: machine.rootDiskSize,
    connectionName: machine.connection,
    specId: machine.spec,
    imageId: machine.image,
    vNetId: machine.vNet,
    subnetId: machine.subnet,
    securityGroupIds: machine.securityGroups,
    sshKeyId: machine.sshKey,
    vmUserAccount: machine.user,
    vmUserPassword: "",
    cspViewVmDetail: {
      IId: { NameId: machine.id, SystemId: machine.status === "Failed" ? "" : `i-${machine.uid}` },
      VMSpecName: machine.spec,
    },
  };
}
