import { REF } from "./clouds";
import { showConnection } from "./infra-resources";
import type { StoredInfrastructure, StoredMachine } from "./state";
import { sorted, statusCount, summary, type Body, type Scene } from "./wire";

const COUNTED = [
  ...["Creating", "Running", "Failed", "Suspended", "Rebooting", "Terminated", "Suspending", "Resuming"],
  ...["Terminating", "Registering", "Reconciling", "Undefined"],
];

/** A whole infra. The answer to an addition names the new nodes, and leaves out the server's own labels, as a read of one does. */
export function showInfrastructure(
  infrastructure: StoredInfrastructure,
  scene: Scene,
  fresh?: readonly string[],
): Body {
  const { id, uid, description } = infrastructure;
  const nodes = sorted(infrastructure.machines).map((machine) => {
    const node = showMachine(machine, infrastructure, scene);
    if (fresh !== undefined) return node;
    return { ...node, label: machine.isMade ? machineLabels(machine, infrastructure.id, scene) : null };
  });
  return {
    ...{ resourceType: "infra", id, uid, name: id, status: summary(infrastructure, false) },
    statusCount: statusCount(infrastructure, COUNTED),
    targetStatus: infrastructure.targetStatus,
    targetAction: infrastructure.targetAction,
    installMonAgent: "no",
    configureCloudAdaptiveNetwork: "",
    label: labelsOf(infrastructure, scene),
    systemLabel: "",
    systemMessage: null,
    description,
    node: nodes.length === 0 ? null : nodes,
    cluster: clusters(infrastructure, scene),
    newNodeList: fresh ?? null,
  };
}

export function showStatus(infrastructure: StoredInfrastructure, scene: Scene): Body {
  const { id, machines } = infrastructure;
  const master = sorted(machines).find(({ status }) => status === "Running");
  return {
    ...{ id, name: id, status: summary(infrastructure, false) },
    statusCount: statusCount(infrastructure, COUNTED),
    targetStatus: infrastructure.targetStatus,
    targetAction: infrastructure.targetAction,
    installMonAgent: "no",
    masterNodeId: master?.id ?? "",
    masterIp: master?.publicAddress ?? "",
    masterSSHPort: master?.sshPort ?? 0,
    label: labelsOf(infrastructure, scene),
    systemLabel: "",
    node: sorted(machines).map((machine) => {
      // of a running node the server asks the cloud, and of others it reads its record
      const isAsked = machine.status === "Running";
      return {
        id: machine.id,
        ...(machine.isMade ? { cspResourceName: machine.uid } : {}),
        name: machine.id,
        status: machine.status,
        targetStatus: machine.targetStatus,
        targetAction: machine.targetAction,
        nativeStatus: nativeStatus(machine),
        monAgentStatus: machine.isMade && !isAsked ? "notInstalled" : "",
        systemMessage: isAsked ? "Running==Running" : machine.systemMessage,
        createdTime: isAsked ? "" : machine.createdTime,
        publicIp: machine.publicAddress,
        privateIp: machine.privateAddress,
        sshPort: machine.isMade ? machine.sshPort : 0,
        location: REF.infra,
      };
    }),
  };
}

export function showMachine(
  machine: StoredMachine,
  _infrastructure: StoredInfrastructure,
  { namespace, connections }: Scene,
): Body {
  const connection = connections.find(({ name }) => name === machine.connection);
  const cloudIdOf = (kind: string, id: string) =>
    machine.isMade
      ? (namespace.resources.find((each) => each.kind === kind && each.id === id)?.cloudId ?? "")
      : "";
  const spec = namespace.resources.find(({ kind, id }) => kind === "spec" && id === machine.spec);
  const { uid, isMade } = machine;
  const dns = isMade ? `${uid}.example` : "";
  const region =
    connection !== undefined && isMade
      ? { region: connection.region, ...(connection.zone === "" ? {} : { zone: connection.zone }) }
      : { region: "" };
  return {
    resourceType: "node",
    id: machine.id,
    uid,
    ...(isMade ? { cspResourceName: uid, cspResourceId: uid } : {}),
    name: machine.id,
    nodeGroupId: machine.group,
    location: REF.infra,
    status: machine.status,
    targetStatus: machine.targetStatus,
    targetAction: machine.targetAction,
    monAgentStatus: isMade ? "notInstalled" : "",
    networkAgentStatus: isMade ? "notInstalled" : "",
    systemMessage: machine.systemMessage,
    createdTime: machine.createdTime,
    label: machine.label,
    description: machine.description,
    region,
    publicIP: machine.publicAddress,
    sshPort: isMade ? machine.sshPort : 0,
    publicDNS: dns,
    privateIP: machine.privateAddress,
    privateDNS: dns,
    rootDiskType: isMade ? "SSD" : machine.rootDiskType,
    rootDiskSize: isMade ? 32 : Number(machine.rootDiskSize),
    RootDeviceName: isMade ? "/dev/sda1" : "",
    connectionName: machine.connection,
    connectionConfig: connection === undefined ? {} : showConnection(connection),
    specId: machine.spec,
    cspSpecName: isMade ? (spec?.cloudName ?? "") : "",
    spec: {},
    imageId: machine.image,
    cspImageName: machine.cloudImage,
    image: { osType: "" },
    vNetId: machine.vNet,
    cspVNetId: cloudIdOf("vNet", machine.vNet),
    subnetId: machine.subnet,
    cspSubnetId: isMade ? `${cloudIdOf("vNet", machine.vNet)}-${machine.subnet}` : "",
    networkInterface: isMade ? "eni0" : "",
    securityGroupIds: machine.securityGroups,
    dataDiskIds: null,
    sshKeyId: machine.sshKey,
    cspSshKeyId: cloudIdOf("sshKey", machine.sshKey),
    nodeUserName: machine.user,
    ...(isMade ? { nodeUserPassword: `p-${uid}` } : {}),
  };
}

export function showDeletion({ id, machines, lastNumbers }: StoredInfrastructure): Body {
  return {
    output: [
      ...sorted(machines).map((machine) => `[Done] Node: ${machine.id}`),
      ...Object.keys(lastNumbers)
        .sort()
        .map((group) => `[Done] NodeGroup: ${group}`),
      `[Done] Infra: ${id}`,
    ],
  };
}

function nativeStatus({ status, isMade, targetAction }: StoredMachine): string {
  return !isMade && targetAction === "Create" ? "Undefined" : status;
}

function labelsOf({ id, uid, label, description }: StoredInfrastructure, { namespace }: Scene): Body {
  return {
    ...(label as Body),
    "sys.description": description,
    "sys.id": id,
    "sys.labelType": "infra",
    "sys.manager": "cb-tumblebug",
    "sys.name": id,
    "sys.namespace": namespace.id,
    "sys.uid": uid,
  };
}

function machineLabels(machine: StoredMachine, infrastructure: string, { namespace }: Scene): Body {
  return {
    ...(machine.label as Body | null),
    "sys.connectionName": machine.connection,
    "sys.createdTime": machine.createdTime,
    "sys.cspResourceId": machine.uid,
    "sys.cspResourceName": machine.uid,
    "sys.id": machine.id,
    "sys.infraId": infrastructure,
    "sys.labelType": "node",
    "sys.manager": "cb-tumblebug",
    "sys.name": machine.id,
    "sys.namespace": namespace.id,
    "sys.nodeGroupId": machine.group,
    "sys.subnetId": machine.subnet,
    "sys.uid": machine.uid,
    "sys.vNetId": machine.vNet,
  };
}

/** The server's view of the nodes that are in one VNet. */
function clusters({ id, machines }: StoredInfrastructure, { connections }: Scene): Body[] {
  return [...new Set(machines.map(({ vNet }) => vNet))].sort().map((vNet) => {
    const nodes = sorted(machines).filter((machine) => machine.vNet === vNet);
    const named = [...new Set(nodes.map(({ connection }) => connection))];
    const regions = nodes
      .filter(({ isMade }) => isMade)
      .map(({ connection }) => connections.find(({ name }) => name === connection)?.region ?? "");
    const groups = [...new Set(nodes.map(({ group }) => group))];
    return {
      ...{ id: vNet, name: vNet, infraId: id, vNetId: vNet },
      connectionNames: named,
      providerNames: [
        ...new Set(named.map((each) => connections.find(({ name }) => name === each)?.provider ?? "")),
      ],
      regionNames: regions.length === 0 ? null : [...new Set(regions)],
      nodeGroupIds: groups,
      nodeIds: nodes.map((node) => node.id),
      nodeGroupCount: groups.length,
      nodeCount: nodes.length,
      representativeNodeGroupId: groups[0] ?? "",
      representativeNodeId: nodes[0]?.id ?? "",
    };
  });
}
