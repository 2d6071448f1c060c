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

/** One path of a response's field, or several, of which the first one with a value counts. */
type Paths = string | readonly string[];

/** What differs between the generations of the API; `dialect.ts` makes requests and schemas from it. */
export interface GenerationTable {
  readonly generation: Generation;
  /** Whether the server answers 404 for a missing object, so that no existence check is needed. */
  readonly saysNotFound: boolean;
  /** Whether images are registered, and whether specs can be listed. */
  readonly registersImages: boolean;
  readonly listsSpecs: boolean;
  /** Words in paths. */
  readonly paths: {
    readonly infrastructure: string;
    readonly machine: string;
    readonly group: string;
    readonly checkInfrastructure: string;
    readonly checkMachine: string;
  };
  readonly deleteVNetQuery: string;
  /** Path that has the region and zone of a connection. */
  readonly regionPath: (connection: Connection) => string;

  /** Notation of values in requests. */
  readonly number: (value: number) => string | number;
  readonly labels: (labels?: Labels) => string | Labels;
  readonly subnet: (subnet: DesiredVNet["subnets"][number]) => object;
  readonly rule: (rule: FirewallRule) => object;
  readonly rootDiskSize: (gibibytes: number | undefined) => string | number;
  /** Names of fields in requests. */
  readonly requests: {
    readonly lookupSpec: string;
    readonly lookupImage: string;
    readonly groups: string;
    readonly groupSize: string;
    readonly growth: string;
    readonly user: string;
    readonly balancedGroup: string;
    readonly balancedMachines: string;
  };
  /** Further fields of requests. */
  readonly infrastructureExtras: object;
  readonly groupExtras: (group: DesiredVmGroup) => object;
  /** Value of a health check's fields that selects the cloud's default. */
  readonly defaultHealth: string | number;

  /** Paths of fields in responses. */
  readonly answers: {
    readonly connection: Record<"name" | "provider" | "regionName", Paths>;
    readonly cloudSpecMemory: Paths;
    readonly cloudImage: Record<"name" | "guestOs", Paths>;
    readonly cloudId: Record<"vNet" | "securityGroup" | "sshKey" | "machine" | "loadBalancer", Paths>;
    readonly subnet: Record<"name" | "cidr", Paths>;
    readonly ruleProtocol: Paths;
    readonly sshUser: Paths;
    readonly spec: Record<"vcpus" | "memory", Paths>;
    readonly machines: Paths;
    readonly machine: Record<"group" | "region" | "zone" | "user", Paths>;
    readonly balancer: Record<"group" | "machines", Paths>;
  };
  readonly region: z.ZodType<Region>;
  /** Reads the ports of a rule: "22", "22-80", or several of these, separated by commas. */
  readonly rulePorts: z.ZodType<string>;
}

const keyValue = (key: string) =>
  list(z.looseObject({ Key: text, Value: text })).transform(
    (all) => all.find(({ Key }) => Key === key)?.Value ?? "",
  );

/** The API of releases 0.7 to 0.9. */
const mcis: GenerationTable = {
  generation: "mcis",
  saysNotFound: true,
  registersImages: true,
  listsSpecs: true,
  paths: {
    infrastructure: "mcis",
    machine: "vm",
    group: "subgroup",
    checkInfrastructure: "checkMcis",
    checkMachine: "checkVm",
  },
  deleteVNetQuery: "",
  regionPath: ({ regionName }) => `/region/${encodeURIComponent(regionName)}`,

  number: String,
  labels: (labels = {}) =>
    Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(","),
  subnet: ({ name, cidr }) => ({ Name: name, IPv4_CIDR: cidr }),
  rule: ({ ports: [from, to] = [-1, -1], protocol, direction, cidr }) => ({
    FromPort: String(from),
    ToPort: String(to),
    IPProtocol: protocol,
    Direction: direction,
    CIDR: cidr,
  }),
  rootDiskSize: (gibibytes) => (gibibytes === undefined ? "default" : String(gibibytes)),
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
  infrastructureExtras: { systemLabel: "" },
  groupExtras: () => ({ vmUserPassword: "" }),
  defaultHealth: "default",

  answers: {
    connection: { name: "ConfigName", provider: "ProviderName", regionName: "RegionName" },
    cloudSpecMemory: "Mem",
    cloudImage: { name: ["IId.NameId", "IId.SystemId"], guestOs: "GuestOS" },
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
    machine: {
      group: "subGroupId",
      region: "region?.Region",
      zone: "region?.Zone",
      user: "vmUserAccount",
    },
    balancer: { group: ["targetGroup.subGroupId", "id"], machines: "targetGroup.vms" },
  },
  region: record({
    name: [z.string(), "RegionName"],
    region: [keyValue("Region"), "KeyValueInfoList"],
    zone: [keyValue("Zone"), "KeyValueInfoList"],
  }).transform(({ region, zone }) => ({ region, zone })),
  rulePorts: z
    .looseObject({ FromPort: text, ToPort: text })
    .transform(({ FromPort, ToPort }) => `${FromPort}-${ToPort}`),
};

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
      regionName: ["regionDetail?.regionName", "regionZoneInfoName"],
    },
    cloudSpecMemory: "MemSizeMib",
    cloudImage: { name: ["Name", "IId?.NameId"], guestOs: "OSDistribution" },
    cloudId: {
      vNet: "cspResourceId",
      securityGroup: "cspResourceId",
      sshKey: "cspResourceId",
      machine: "cspResourceId",
      loadBalancer: "cspResourceId",
    },
    subnet: { name: ["id", "name"], cidr: "ipv4_CIDR" },
    ruleProtocol: "Protocol",
    sshUser: ["verifiedUsername", "username"],
    spec: { vcpus: "vCPU", memory: "memoryGiB" },
    machines: "node",
    machine: { group: "nodeGroupId", region: "region?.region", zone: "region?.zone", user: "nodeUserName" },
    balancer: { group: ["targetGroup.nodeGroupId", "id"], machines: "targetGroup.nodes" },
  },
  region: record({
    region: [text, ["regionZoneInfo?.assignedRegion", "regionDetail?.regionId"]],
    zone: [text, "regionZoneInfo?.assignedZone"],
  }),
  rulePorts: z.looseObject({ Port: text, Ports: text }).transform(({ Port, Ports }) => Port || Ports),
};

export const GENERATION_TABLES: Readonly<Record<Generation, GenerationTable>> = { mcis, infra };
