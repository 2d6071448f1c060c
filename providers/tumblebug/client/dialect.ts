import { z } from "zod";
import type {
  CloudImage,
  CloudSpec,
  Connection,
  DesiredInfrastructure,
  DesiredLoadBalancer,
  DesiredVmGroup,
  Generation,
  Infrastructure,
  InfrastructureStatus,
  LoadBalancer,
  VirtualMachine,
} from "../plan/model";
import { address, list, port, record, text, wholeNumber, word } from "./answer";
import { GENERATION_TABLES, type GenerationTable } from "./generations";
import { objectDialects } from "./object-dialects";
import { oneLine, remoteWords } from "./refusal";

/** Requests and responses of one generation. */
export type Dialect = ReturnType<typeof dialectOf>;

const SSH_PORT = 22;

const oneLineName = z.string().transform(oneLine);
const message = text.transform((words) => (words === "" ? "" : remoteWords(words)));
/** `mcis` has one message, `infra` a list. */
const messages = z
  .union([list(message), message])
  .transform((all) => [all].flat().filter((one) => one !== ""));
const sshPort = wholeNumber.transform((value) => value || SSH_PORT);
const lowerCase = z
  .string()
  .nullish()
  .transform((value) => value?.toLowerCase() ?? "");
/** Fields of a VM's status, which both the full and the short answer have. */
const STATUS = {
  name: [oneLineName, "id"],
  status: [word, "status"],
  targetAction: [word, "targetAction"],
} as const;

/** Returns the requests and responses of a generation, from its table. */
export function dialectOf(generation: Generation) {
  const table = GENERATION_TABLES[generation];
  return { ...table, ...objectDialects(table), ...clouds(table), ...machines(table), ...balancers(table) };
}

function clouds({ answers, requests }: GenerationTable) {
  const connection: z.ZodType<Connection> = record({
    name: [z.string(), answers.connection.name],
    provider: [lowerCase, answers.connection.provider],
    regionName: [text, answers.connection.regionName],
  });
  const cloudSpec: z.ZodType<CloudSpec> = record({
    name: [z.string(), "Name"],
    region: [text, "Region"],
    vcpus: [wholeNumber, "VCpu?.Count"],
    memoryMebibytes: [wholeNumber, answers.cloudSpecMemory],
  });
  const cloudImage: z.ZodType<CloudImage> = record({
    name: [text, answers.cloudImage.name],
    guestOs: [text, answers.cloudImage.guestOs],
  });
  return {
    connection,
    cloudSpec,
    cloudImage,
    cloudImages: z.looseObject({ image: list(cloudImage) }).transform(({ image }) => image),
    specLookup: (connectionName: string, spec: string) => ({ connectionName, [requests.lookupSpec]: spec }),
    imageLookup: (connectionName: string, image: string) => ({
      connectionName,
      [requests.lookupImage]: image,
    }),
  };
}

function machines({ answers, requests, ...table }: GenerationTable) {
  const machine: z.ZodType<VirtualMachine> = record({
    name: STATUS.name,
    group: [word, answers.machine.group],
    status: STATUS.status,
    targetAction: STATUS.targetAction,
    systemMessage: [message, "systemMessage"],
    region: [text, answers.machine.region],
    zone: [text, answers.machine.zone],
    publicAddress: [address, "publicIP"],
    privateAddress: [address, "privateIP"],
    sshPort: [sshPort, "sshPort"],
    connection: [word, "connectionName"],
    user: [word, answers.machine.user],
    spec: [text, "specId"],
    image: [text, "imageId"],
    vNet: [text, "vNetId"],
    subnet: [text, "subnetId"],
    securityGroups: [list(z.string()), "securityGroupIds"],
    sshKey: [text, "sshKeyId"],
    cloudId: [text, answers.cloudId.machine],
  });
  const infrastructure: z.ZodType<Infrastructure> = record({
    ...STATUS,
    targetStatus: [word, "targetStatus"],
    description: [text, "description"],
    messages: [messages, "systemMessage"],
    machines: [list(machine), answers.machines],
  });
  const machineStatus = record({
    ...STATUS,
    systemMessage: [message, "systemMessage"],
    publicAddress: [address, "publicIp"],
    privateAddress: [address, "privateIp"],
    sshPort: [sshPort, "sshPort"],
  });
  const infrastructureStatus: z.ZodType<InfrastructureStatus> = z
    .looseObject({ status: record({ ...STATUS, machines: [list(machineStatus), answers.machines] }) })
    .transform(({ status }) => status);
  const groupBody = (group: DesiredVmGroup) => ({
    name: group.name,
    [requests.groupSize]: table.number(group.size),
    connectionName: group.connection,
    specId: group.spec,
    imageId: group.image,
    vNetId: group.vNet,
    subnetId: group.subnet,
    securityGroupIds: group.securityGroups,
    sshKeyId: group.sshKey,
    [requests.user]: group.user,
    rootDiskType: group.rootDisk?.type ?? "default",
    rootDiskSize: table.rootDiskSize(group.rootDisk?.gibibytes),
    label: table.labels(group.labels),
    description: group.description ?? "",
    ...table.groupExtras(group),
  });
  return {
    machine,
    infrastructure,
    infrastructureStatus,
    groupBody,
    growthBody: (count: number) => ({ [requests.growth]: table.number(count) }),
    infrastructureBody: ({ name, description = "", labels, groups }: DesiredInfrastructure) => ({
      name,
      description,
      // With any other value, the server installs an agent and waits for it.
      installMonAgent: "no",
      label: table.labels(labels),
      [requests.groups]: groups.map(groupBody),
      ...table.infrastructureExtras,
    }),
  };
}

function balancers({ answers, requests, defaultHealth }: GenerationTable) {
  const loadBalancer: z.ZodType<LoadBalancer> = record({
    group: [text, answers.balancer.group],
    port: [port, "listener.port"],
    targetPort: [port, "targetGroup.port"],
    address: [address, "listener.ip|listener.dnsName"],
    status: [word, "status"],
    machines: [list(z.string()), answers.balancer.machines],
    cloudId: [text, answers.cloudId.loadBalancer],
  });
  return {
    loadBalancer,
    loadBalancerBody: ({ group, port, targetPort, isPublic }: DesiredLoadBalancer) => ({
      type: isPublic ? "PUBLIC" : "INTERNAL",
      scope: "REGION",
      listener: { protocol: "TCP", port: String(port) },
      targetGroup: { protocol: "TCP", port: String(targetPort), [requests.balancedGroup]: group },
      healthChecker: { interval: defaultHealth, timeout: defaultHealth, threshold: defaultHealth },
    }),
    balancedMachinesBody: (machine: string) => ({ targetGroup: { [requests.balancedMachines]: [machine] } }),
  };
}
