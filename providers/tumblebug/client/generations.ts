import { z } from "zod";
import type {
  Connection,
  DesiredVNet,
  DesiredVmGroup,
  FirewallRule,
  Generation,
  Region,
} from "../plan/model";
import { list, record, text } from "./answer";

type Labels = Readonly<Record<string, string>>;

const keyValue = (key: string) =>
  list(z.looseObject({ Key: text, Value: text })).transform(
    (all) => all.find(({ Key }) => Key === key)?.Value ?? "",
  );

/**
 * The API of releases 0.7 to 0.9. A table contains what differs between the generations; `dialect.ts` makes requests and
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
    group: "subgroup",
    checkInfrastructure: "checkMcis",
    checkMachine: "checkVm",
  },
  deleteVNetQuery: "",
  /** Path that has the region and zone of a connection. */
  regionPath: ({ regionName }: Connection) => `/region/${encodeURIComponent(regionName)}`,

  /** Notation of values in requests. */
  number: (value: number): string | number => String(value),
  labels: (labels: Labels = {}): string | Labels =>
    Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(","),
  subnet: ({ name, cidr }: DesiredVNet["subnets"][number]): object => ({ Name: name, IPv4_CIDR: cidr }),
  rule: ({ ports: [from, to] = [-1, -1], protocol, direction, cidr }: FirewallRule): object => ({
    FromPort: String(from),
    ToPort: String(to),
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
    growth: "numVMsToAdd",
    user: "vmUserAccount",
    balancedGroup: "subGroupId",
    balancedMachines: "vms",
  },
  /** Further fields of requests. */
  infrastructureExtras: { systemLabel: "" } as object,
  groupExtras: (_group: DesiredVmGroup): object => ({ vmUserPassword: "" }),
  /** Value of a health check's fields that selects the cloud's default. */
  defaultHealth: "default" as string | number,

  /** Paths of fields in responses, in the notation of `record`. */
  answers: {
    connection: { name: "ConfigName", provider: "ProviderName", regionName: "RegionName" },
    cloudSpecMemory: "Mem",
    cloudImage: { name: "IId.NameId|IId.SystemId", guestOs: "GuestOS" },
    cloudId: {
      vNet: "cspVNetId",
      securityGroup: "cspSecurityGroupId",
      sshKey: "cspSshKeyId",
      machine: "cspViewVmDetail?.IId?.SystemId",
      loadBalancer: "cspNLBId",
    },
    subnet: { name: "Name", cidr: "IPv4_CIDR" },
    ruleProtocol: "IPProtocol",
    sshUser: "username",
    spec: { vcpus: "numvCPU", memory: "memGiB" },
    machines: "vm",
    machine: { group: "subGroupId", region: "region?.Region", zone: "region?.Zone", user: "vmUserAccount" },
    balancer: { group: "targetGroup.subGroupId|id", machines: "targetGroup.vms" },
  },
  region: record({
    name: [z.string(), "RegionName"],
    region: [keyValue("Region"), "KeyValueInfoList"],
    zone: [keyValue("Zone"), "KeyValueInfoList"],
  }).transform(({ region, zone }) => ({ region, zone })) as z.ZodType<Region>,
  /** Reads the ports of a rule: "22", "22-80", or several of these, separated by commas. */
  rulePorts: z
    .looseObject({ FromPort: text, ToPort: text })
    .transform(({ FromPort, ToPort }) => `${FromPort}-${ToPort}`) as z.ZodType<string>,
};

export type GenerationTable = typeof mcis;

/**
 * The current API, since release 0.12.6. It registers no images: VMs refer to the cloud's image, because a registered
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
    group: "nodegroup",
    checkInfrastructure: "checkInfra",
    checkMachine: "checkNode",
  },
  deleteVNetQuery: "?action=withsubnets",
  // The connection has the region and its own zone; the record of the region has no zone of the connection.
  regionPath: ({ name }) => `/connConfig/${encodeURIComponent(name)}`,

  number: (value) => value,
  labels: (labels) => ({ ...labels }),
  subnet: ({ name, cidr, zone }) => ({ name, ipv4_CIDR: cidr, zone }),
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
    growth: "numNodesToAdd",
    user: "nodeUserName",
    balancedGroup: "nodeGroupId",
    balancedMachines: "nodes",
  },
  // Failed VMs remain recorded, so that their errors can be reported.
  infrastructureExtras: { policyOnPartialFailure: "continue" },
  // The server finds the image in the cloud by this name; the id alone is not enough.
  groupExtras: ({ image }) => ({ cspImageName: image }),
  defaultHealth: 0,

  answers: {
    connection: {
      name: "configName",
      provider: "providerName",
      regionName: "regionDetail?.regionName|regionZoneInfoName",
    },
    cloudSpecMemory: "MemSizeMib",
    cloudImage: { name: "Name|IId?.NameId", guestOs: "OSDistribution" },
    cloudId: {
      vNet: "cspResourceId",
      securityGroup: "cspResourceId",
      sshKey: "cspResourceId",
      machine: "cspResourceId",
      loadBalancer: "cspResourceId",
    },
    subnet: { name: "id|name", cidr: "ipv4_CIDR" },
    ruleProtocol: "Protocol",
    sshUser: "verifiedUsername|username",
    spec: { vcpus: "vCPU", memory: "memoryGiB" },
    machines: "node",
    machine: { group: "nodeGroupId", region: "region?.region", zone: "region?.zone", user: "nodeUserName" },
    balancer: { group: "targetGroup.nodeGroupId|id", machines: "targetGroup.nodes" },
  },
  region: record({
    region: [text, "regionZoneInfo?.assignedRegion|regionDetail?.regionId"],
    zone: [text, "regionZoneInfo?.assignedZone"],
  }),
  rulePorts: z.looseObject({ Port: text, Ports: text }).transform(({ Port, Ports }) => Port || Ports),
};

export const GENERATION_TABLES: Readonly<Record<Generation, GenerationTable>> = { mcis, infra };
