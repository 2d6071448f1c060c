import { REF } from "./clouds";
import { showConnection } from "./infra-resources";
import type { StoredInfrastructure, StoredMachine } from "./state";
import * as shared from "./shared-wire";
import { sorted, type Body, type Scene } from "./wire";

export const infraFields: shared.WireFields = {
  groups: "nodeGroups",
  groupSize: "nodeGroupSize",
  growth: "numNodesToAdd",
  user: "nodeUserName",
  label: (body) => body["label"] ?? null,
  balancedGroup: "nodeGroupId",
  balancedMachines: "nodes",
  cloudSpec: "cspResourceId",
  cloudImage: "cspImageName",
  title: "Node",
  counted: [
    ...["Creating", "Running", "Failed", "Suspended", "Rebooting", "Terminated", "Suspending", "Resuming"],
    ...["Terminating", "Registering", "Reconciling", "Undefined"],
  ],
  isFailureFirst: false,
  sshPort: (machine) => machine?.sshPort ?? 0,
};

/**
 * Returns a whole infra. The response to an addition names the new nodes and omits the server's own labels, like the
 * read of one.
 */
export function showInfrastructure(
  infrastructure: StoredInfrastructure,
  scene: Scene,
  fresh?: readonly string[],
): Body {
  const nodes = sorted(infrastructure.machines).map((machine) => {
    const node = showMachine(machine, infrastructure, scene);
    if (fresh !== undefined) return node;
    return { ...node, label: machine.isMade ? machineLabels(machine, infrastructure.id, scene) : null };
  });
  return {
    ...shared.showInfrastructure(infraFields, infrastructure, fresh),
    resourceType: "infra",
    uid: infrastructure.uid,
    label: labelsOf(infrastructure, scene),
    systemMessage: null,
    node: nodes.length === 0 ? null : nodes,
    cluster: clusters(infrastructure, scene),
  };
}

export function showStatus(infrastructure: StoredInfrastructure, scene: Scene): Body {
  return {
    ...shared.showStatus(infraFields, infrastructure),
    label: labelsOf(infrastructure, scene),
    node: sorted(infrastructure.machines).map((machine) => {
      // for a running node the server asks the cloud, for others it reads its record
      const isAsked = machine.status === "Running";
      return {
        ...shared.machineStatus(machine),
        ...(machine.isMade ? { cspResourceName: machine.uid } : {}),
        nativeStatus: nativeStatus(machine),
        ...(isAsked ? { monAgentStatus: "", systemMessage: "Running==Running", createdTime: "" } : {}),
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
  scene: Scene,
): Body {
  const { namespace, connections } = scene;
  const connection = connections.find(({ name }) => name === machine.connection);
  const cloudIdOf = (kind: string, id: string) =>
    machine.isMade
      ? (namespace.resources.find((each) => each.kind === kind && each.id === id)?.cloudId ?? "")
      : "";
  const spec = namespace.resources.find(({ kind, id }) => kind === "spec" && id === machine.spec);
  const { uid, isMade } = machine;
  const region =
    connection !== undefined && isMade
      ? { region: connection.region, ...(connection.zone === "" ? {} : { zone: connection.zone }) }
      : { region: "" };
  return {
    ...shared.showMachine(infraFields, machine, scene, showConnection),
    resourceType: "node",
    uid,
    ...(isMade ? { cspResourceName: uid, cspResourceId: uid } : {}),
    nodeGroupId: machine.group,
    location: REF.infra,
    region,
    rootDiskSize: isMade ? 32 : Number(machine.rootDiskSize),
    RootDeviceName: isMade ? "/dev/sda1" : "",
    cspSpecName: isMade ? (spec?.cloudName ?? "") : "",
    spec: {},
    cspImageName: machine.cloudImage,
    image: { osType: "" },
    cspVNetId: cloudIdOf("vNet", machine.vNet),
    cspSubnetId: isMade ? `${cloudIdOf("vNet", machine.vNet)}-${machine.subnet}` : "",
    networkInterface: isMade ? "eni0" : "",
    cspSshKeyId: cloudIdOf("sshKey", machine.sshKey),
    nodeUserName: machine.user,
    ...(isMade ? { nodeUserPassword: `p-${uid}` } : {}),
  };
}

export function showDeletion(infrastructure: StoredInfrastructure): Body {
  const { machines, groups } = shared.deletionOrder(infrastructure);
  const all = [...machines.map((id) => `Node: ${id}`), ...groups.map((id) => `NodeGroup: ${id}`)];
  return { output: [...all, `Infra: ${infrastructure.id}`].map((each) => `[Done] ${each}`) };
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

/** Returns the server's view of the nodes in one VNet. */
function clusters({ id, machines }: StoredInfrastructure, { connections }: Scene): Body[] {
  return [...new Set(machines.map(({ vNet }) => vNet))].sort().map((vNet) => {
    const nodes = sorted(machines).filter((machine) => machine.vNet === vNet);
    const named = [...new Set(nodes.map(({ connection }) => connection))];
    const regions = nodes
      .filter(({ isMade }) => isMade)
      .map(({ connection }) => connections.find(({ name }) => name === connection)?.region ?? "");
    const groups = [...new Set(nodes.map(({ group }) => group))];
    return {
      id: vNet,
      name: vNet,
      infraId: id,
      vNetId: vNet,
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
