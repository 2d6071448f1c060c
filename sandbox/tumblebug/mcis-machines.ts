import { REF } from "./clouds";
import { showConnection } from "./mcis-resources";
import type { StoredConnection, StoredInfrastructure, StoredMachine } from "./state";
import * as shared from "./shared-wire";
import { sorted, textOf, type Body, type Scene } from "./wire";

export const mcisFields: shared.WireFields = {
  groups: "vm",
  groupSize: "subGroupSize",
  growth: "numVMsToAdd",
  user: "vmUserAccount",
  label: (body) => textOf(body, "label"),
  balancedGroup: "subGroupId",
  balancedMachines: "vms",
  cloudSpec: "cspSpecName",
  cloudImage: "cspImageId",
  title: "Vm",
  counted: [
    ...["Creating", "Running", "Failed", "Suspended", "Rebooting", "Terminated", "Suspending", "Resuming"],
    ...["Terminating", "Undefined"],
  ],
  isFailureFirst: true,
  sshPort: (machine) => (machine === undefined ? "" : String(machine.sshPort)),
};

const NONE = { NameId: "", SystemId: "" };

/** Returns a whole MCIS; the response to an addition names the new VMs. */
export function showInfrastructure(
  infrastructure: StoredInfrastructure,
  scene: Scene,
  fresh?: readonly string[],
): Body {
  return {
    ...shared.showInfrastructure(mcisFields, infrastructure, fresh),
    label: infrastructure.label,
    systemMessage: "",
    vm: sorted(infrastructure.machines).map((machine) => showMachine(machine, infrastructure, scene)),
  };
}

export function showStatus(infrastructure: StoredInfrastructure, { namespace, connections }: Scene): Body {
  const { id, machines } = infrastructure;
  return {
    ...shared.showStatus(mcisFields, infrastructure),
    label: infrastructure.label,
    vm: sorted(machines).map((machine) => ({
      ...shared.machineStatus(machine),
      cspVmId: machine.isMade ? `${namespace.id}-${id}-${machine.id}` : "",
      nativeStatus: machine.status === "Running" ? "Running" : "",
      publicIp: machine.isMade ? machine.publicAddress : "empty",
      privateIp: machine.privateAddress,
      sshPort: mcisFields.sshPort(machine.isMade ? machine : undefined),
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
  return {
    ...shared.showMachine(mcisFields, machine, scene, showConnection),
    idByCSP: "",
    subGroupId: machine.group,
    location: placeOf(connection),
    region: isMade ? regionOf(connection) : { Region: "", Zone: "" },
    ...(isMade ? {} : { publicIP: "empty", publicDNS: "empty" }),
    rootDiskSize: isMade ? "32" : machine.rootDiskSize,
    rootDeviceName: isMade ? "/dev/sda1" : "",
    vmUserAccount: machine.user,
    ...(isMade ? { vmUserPassword: `p-${machine.uid}` } : {}),
    cspViewVmDetail: cloudView(machine, infrastructure.id, scene, connection),
  };
}

export function showDeletion(infrastructure: StoredInfrastructure): Body {
  const { machines, groups } = shared.deletionOrder(infrastructure);
  const all = [...machines.map((id) => `VM: ${id}`), ...groups.map((id) => `SubGroup: ${id}`)];
  return { output: [...all, `MCIS: ${infrastructure.id}`].map((each) => `${each} [Done]`) };
}

/** Returns CB-Spider's description of a VM, which the server keeps unchanged; empty before the cloud created the VM. */
function cloudView(
  machine: StoredMachine,
  infrastructure: string,
  { namespace }: Scene,
  connection: StoredConnection | undefined,
): Body {
  const { isMade } = machine;
  const dns = isMade ? `${machine.uid}.example` : "";
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
    Name: "",
    ImageName: "",
    VPCName: "",
    SubnetName: "",
    SecurityGroupNames: null,
    KeyPairName: "",
    CSPid: "",
    DataDiskNames: null,
    VMSpecName: only(spec ?? ""),
    VMUserId: only(machine.user),
    VMUserPasswd: only(`p-${machine.uid}`),
    RootDiskType: only("SSD"),
    RootDiskSize: only("32"),
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
