import { z } from "zod";
import type { FirewallRule, Generation } from "../plan/model";
import { list, record, answerText, answerWord } from "./answer";

const keyValue = (key: string) =>
  list(z.looseObject({ Key: answerText, Value: answerWord })).transform(
    (all) => all.find(({ Key }) => Key === key)?.Value ?? "",
  );

/**
 * The API of releases 0.7.0 to 0.8.7. A table contains what differs between the generations; `dialect.ts` makes requests and
 * schemas from it.
 */
const mcis = {
  generation: "mcis" as Generation,
  /** Whether the server answers 404 for a missing object, so that no existence check is needed. */
  saysNotFound: true,
  registersImages: true,
  listsSpecs: true,
  /** Words in paths. */
  paths: {
    infrastructure: "mcis",
    machine: "vm",
    checkInfrastructure: "checkMcis",
    checkMachine: "checkVm",
  },
  deleteVNetQuery: "",
  /** Query that deletes the record of a VNet that the cloud no longer has. */
  forceVNetQuery: "?force=true",
  /**
   * Whether "Terminated" means that the cloud has ended the VM. These releases also report it for a VM about which
   * CB-Spider did not answer, if its termination was requested, and they then answer 200 to that request.
   */
  confirmsEnd: false,
  /** Path that has the region and zone of a connection. */
  regionPath: ({ regionName }: { name: string; regionName: string }) => ["region", regionName],

  /** Notation of values in requests. */
  number: (value: number): string | number => String(value),
  subnet: (name: string, cidr: string): object => ({ Name: name, IPv4_CIDR: cidr }),
  rule: ({ icmp, ports: [from, to] = [-1, -1], protocol, direction, cidr }: FirewallRule): object => ({
    FromPort: icmp ?? String(from),
    ToPort: icmp ? "" : String(to),
    IPProtocol: protocol,
    Direction: direction,
    CIDR: cidr,
  }),
  rootDiskSize: (gibibytes?: number): string | number =>
    gibibytes === undefined ? "default" : String(gibibytes),
  /** Names of fields in requests. */
  requests: {
    lookupSpec: "cspSpecName",
    lookupImage: "cspImageId",
    groups: "vm",
    groupSize: "subGroupSize",
    user: "vmUserAccount",
    balancedGroup: "subGroupId",
    balancedMachines: "vms",
  },
  /** Further fields of requests. */
  infrastructureExtras: { label: "", systemLabel: "" } as object,
  groupExtras: (_group: { image: string }): object => ({ label: "", vmUserPassword: "" }),
  /** Value of a health check's fields that selects the cloud's default. */
  defaultHealth: "default" as string | number,

  /** Paths of fields in responses, in the notation of `record`. */
  answers: {
    connection: { name: "ConfigName", provider: "ProviderName", regionName: "RegionName" },
    specMemory: "Mem",
    imageName: "IId.NameId|IId.SystemId",
    subnetName: "Name",
    ruleProtocol: "IPProtocol",
    machines: "vm",
    machine: {
      group: "subGroupId",
      region: "region?.Region",
      zone: "region?.Zone",
      user: "vmUserAccount",
      cloudId: "cspViewVmDetail?.IId?.SystemId",
      cloudName: "cspViewVmDetail?.IId?.NameId",
    },
    balancedMachines: "targetGroup.vms",
  },
  region: record({
    name: [z.string(), "RegionName"],
    region: [keyValue("Region"), "KeyValueInfoList"],
    zone: [keyValue("Zone"), "KeyValueInfoList"],
  }).transform(({ region, zone }) => ({ region, zone })) as z.ZodType<{ region: string; zone: string }>,
  /** Reads the ports of a rule: "22", "22-80", or several of these, separated by commas. */
  rulePorts: z
    .looseObject({ FromPort: answerText, ToPort: answerText })
    .transform(({ FromPort, ToPort }) => `${FromPort}-${ToPort}`) as z.ZodType<string>,
};

type GenerationTable = typeof mcis;

/**
 * The current API, since release 0.12.9. It registers no images: VMs refer to the cloud's image, because a registered
 * image can't be used and deleting it may delete the one of the namespace `system` (fixtures of 0.13, `resources/image`).
 */
const infra: GenerationTable = {
  generation: "infra",
  saysNotFound: false,
  registersImages: false,
  listsSpecs: false,
  paths: {
    infrastructure: "infra",
    machine: "node",
    checkInfrastructure: "checkInfra",
    checkMachine: "checkNode",
  },
  deleteVNetQuery: "?action=withsubnets",
  forceVNetQuery: "?action=force",
  confirmsEnd: true,
  // The connection has the region and its own zone; the record of the region has no zone of the connection.
  regionPath: ({ name }) => ["connConfig", name],

  number: (value) => value,
  subnet: (name, cidr) => ({ name, ipv4_CIDR: cidr }),
  rule: ({ ports: [from, to] = ["", ""], protocol, direction, cidr }) => ({
    Ports: from === to ? String(from) : `${from}-${to}`,
    Protocol: protocol.toUpperCase(),
    Direction: direction,
    CIDR: cidr,
  }),
  rootDiskSize: (gibibytes = 0) => gibibytes,
  requests: {
    lookupSpec: "cspResourceId",
    lookupImage: "cspImageName",
    groups: "nodeGroups",
    groupSize: "nodeGroupSize",
    user: "nodeUserName",
    balancedGroup: "nodeGroupId",
    balancedMachines: "nodes",
  },
  // Failed VMs remain recorded, so that their errors can be reported.
  infrastructureExtras: { label: {}, policyOnPartialFailure: "continue" },
  // The server finds the image in the cloud by this name; the id alone is not enough.
  groupExtras: ({ image }) => ({ label: {}, cspImageName: image }),
  defaultHealth: 0,

  answers: {
    connection: {
      name: "configName",
      provider: "providerName",
      regionName: "regionDetail?.regionName|regionZoneInfoName",
    },
    specMemory: "MemSizeMib",
    imageName: "Name|IId?.NameId",
    subnetName: "id|name",
    ruleProtocol: "Protocol",
    machines: "node",
    machine: {
      group: "nodeGroupId",
      region: "region?.region",
      zone: "region?.zone",
      user: "nodeUserName",
      cloudId: "cspResourceId",
      cloudName: "cspResourceName",
    },
    balancedMachines: "targetGroup.nodes",
  },
  region: record({
    region: [answerWord, "regionZoneInfo?.assignedRegion|regionDetail?.regionId"],
    zone: [answerWord, "regionZoneInfo?.assignedZone"],
  }),
  rulePorts: z
    .looseObject({ Port: answerText, Ports: answerText })
    .transform(({ Port, Ports }) => Port || Ports),
};

export const GENERATION_TABLES: Readonly<Record<Generation, GenerationTable>> = { mcis, infra };
