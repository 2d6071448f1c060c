import { REF } from "./clouds";
import { showConnection } from "./mcis-resources";
import type { StoredConnection, StoredInfrastructure, StoredMachine } from "./state";
import { sorted, statusCount, summary, type Body, type Scene } from "./wire";

const COUNTED = [
  ...["Creating", "Running", "Failed", "Suspended", "Rebooting", "Terminated", "Suspending", "Resuming"],
  ...["Terminating", "Undefined"],
];
const NONE = { NameId: "", SystemId: "" };

/** A whole MCIS; the answer to an addition names the new VMs. */
export function showInfrastructure(
  infrastructure: StoredInfrastructure,
  scene: Scene,
  fresh?: readonly string[],
): Body {
  const { id, description } = infrastructure;
  return {
    ...{ id, name: id, status: summary(infrastructure, true) },
    statusCount: statusCount(infrastructure, COUNTED),
    targetStatus: infrastructure.targetStatus,
    targetAction: infrastructure.targetAction,
    installMonAgent: "no",
    configureCloudAdaptiveNetwork: "",
    label: infrastructure.label,
    systemLabel: "",
    systemMessage: "",
    description,
    vm: sorted(infrastructure.machines).map((machine) => showMachine(machine, infrastructure, scene)),
    newVmList: fresh ?? null,
  };
}

export function showStatus(infrastructure: StoredInfrastructure, { namespace, connections }: Scene): Body {
  const { id, machines } = infrastructure;
  const master = sorted(machines).find(({ status }) => status === "Running");
  return {
    ...{ id, name: id, status: summary(infrastructure, true) },
    statusCount: statusCount(infrastructure, COUNTED),
    targetStatus: infrastructure.targetStatus,
    targetAction: infrastructure.targetAction,
    installMonAgent: "no",
    masterVmId: master?.id ?? "",
    masterIp: master?.publicAddress ?? "",
    masterSSHPort: master === undefined ? "" : String(master.sshPort),
    label: infrastructure.label,
    systemLabel: "",
    vm: sorted(machines).map((machine) => ({
      id: machine.id,
      name: machine.id,
      cspVmId: machine.isMade ? `${namespace.id}-${id}-${machine.id}` : "",
      status: machine.status,
      targetStatus: machine.targetStatus,
      targetAction: machine.targetAction,
      nativeStatus: machine.status === "Running" ? "Running" : "",
      monAgentStatus: machine.isMade ? "notInstalled" : "",
      systemMessage: machine.systemMessage,
      createdTime: machine.createdTime,
      publicIp: machine.isMade ? machine.publicAddress : "empty",
      privateIp: machine.privateAddress,
      sshPort: machine.isMade ? String(machine.sshPort) : "",
      location: placeOf(connections.find(({ name }) => name === machine.connection)),
    })),
  };
}

export function showMachine(
  machine: StoredMachine,
  infrastructure: StoredInfrastructure,
  scene: Scene,
): Body {
  const connection = scene.connections.find(({ name }) => name === machine.connection);
  const { isMade } = machine;
  const dns = isMade ? `${machine.uid}.example` : "";
  return {
    id: machine.id,
    name: machine.id,
    idByCSP: "",
    subGroupId: machine.group,
    location: placeOf(connection),
    status: machine.status,
    targetStatus: machine.targetStatus,
    targetAction: machine.targetAction,
    monAgentStatus: isMade ? "notInstalled" : "",
    networkAgentStatus: isMade ? "notInstalled" : "",
    systemMessage: machine.systemMessage,
    createdTime: machine.createdTime,
    label: machine.label,
    description: machine.description,
    region: isMade ? regionOf(connection) : { Region: "", Zone: "" },
    publicIP: isMade ? machine.publicAddress : "empty",
    sshPort: isMade ? String(machine.sshPort) : "",
    publicDNS: isMade ? dns : "empty",
    privateIP: machine.privateAddress,
    privateDNS: dns,
    rootDiskType: isMade ? "SSD" : machine.rootDiskType,
    rootDiskSize: isMade ? "32" : machine.rootDiskSize,
    rootDeviceName: isMade ? "/dev/sda1" : "",
    connectionName: machine.connection,
    connectionConfig: connection === undefined ? {} : showConnection(connection),
    specId: machine.spec,
    imageId: machine.image,
    vNetId: machine.vNet,
    subnetId: machine.subnet,
    securityGroupIds: machine.securityGroups,
    dataDiskIds: null,
    sshKeyId: machine.sshKey,
    vmUserAccount: machine.user,
    ...(isMade ? { vmUserPassword: `p-${machine.uid}` } : {}),
    cspViewVmDetail: cloudView(machine, infrastructure.id, scene, connection, dns),
  };
}

export function showDeletion({ id, machines, lastNumbers }: StoredInfrastructure): Body {
  return {
    output: [
      ...sorted(machines).map((machine) => `VM: ${machine.id} [Done]`),
      ...Object.keys(lastNumbers)
        .sort()
        .map((group) => `SubGroup: ${group} [Done]`),
      `MCIS: ${id} [Done]`,
    ],
  };
}

/** What CB-Spider says of a VM, which the server keeps as it came; empty before the cloud made the VM. */
function cloudView(
  machine: StoredMachine,
  infrastructure: string,
  { namespace }: Scene,
  connection: StoredConnection | undefined,
  dns: string,
): Body {
  const { isMade } = machine;
  const names = (kind: string, id: string) => {
    const found = namespace.resources.find((each) => each.kind === kind && each.id === id);
    return isMade ? { NameId: `${namespace.id}-${id}`, SystemId: found?.cloudId ?? "" } : NONE;
  };
  const inCloud = (name: string, id: string) => (isMade ? { NameId: name, SystemId: id } : NONE);
  const image = namespace.resources.find(
    ({ kind, id }) => kind === "image" && id === machine.image,
  )?.cloudName;
  const spec = namespace.resources.find(({ kind, id }) => kind === "spec" && id === machine.spec)?.cloudName;
  const name = `${namespace.id}-${infrastructure}-${machine.id}`;
  const only = (value: string) => (isMade ? value : "");
  return {
    ...{ Name: "", ImageName: "", VPCName: "", SubnetName: "", SecurityGroupNames: null, KeyPairName: "" },
    ...{ CSPid: "", DataDiskNames: null, VMSpecName: only(spec ?? ""), VMUserId: only(machine.user) },
    ...{ VMUserPasswd: only(`p-${machine.uid}`), RootDiskType: only("SSD"), RootDiskSize: only("32") },
    ImageType: only("PublicImage"),
    IId: inCloud(name, `${name}-${machine.uid}`),
    ImageIId: inCloud(image ?? "", image ?? ""),
    VpcIID: names("vNet", machine.vNet),
    SubnetIID: inCloud(machine.subnet, `${machine.subnet}-${machine.uid}`),
    SecurityGroupIIds: isMade ? machine.securityGroups.map((id) => names("securityGroup", id)) : null,
    KeyPairIId: names("sshKey", machine.sshKey),
    DataDiskIIDs: isMade ? [] : null,
    StartTime: isMade ? `${machine.createdTime.replace(" ", "T")}Z` : "0001-01-01T00:00:00Z",
    Region: isMade ? regionOf(connection) : { Region: "", Zone: "" },
    NetworkInterface: only("eni0"),
    PublicIP: only(machine.publicAddress),
    PublicDNS: dns,
    PrivateIP: only(machine.privateAddress),
    PrivateDNS: dns,
    RootDeviceName: only("/dev/sda1"),
    SSHAccessPoint: only(`${machine.publicAddress}:${machine.sshPort}`),
    KeyValueList: null,
  };
}

function regionOf(connection: StoredConnection | undefined): Body {
  return { Region: connection?.region ?? "", Zone: connection?.zone ?? "" };
}

function placeOf(connection: StoredConnection | undefined): Body {
  return { ...REF.mcis, cloudType: connection?.provider ?? "", nativeRegion: connection?.region ?? "" };
}
