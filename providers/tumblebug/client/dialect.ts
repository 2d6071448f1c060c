import { z } from "zod";
import { isObject } from "../../../lib/json";
import type { DesiredVmGroup, FirewallRule, Generation, VirtualMachine } from "../plan/model";
import { address, list, record, answerText, wholeNumber, answerWord, type AnswerFields } from "./answer";
import { oneLine, remoteWords } from "./errors";
import { connectionReleaseIssue } from "../plan/releases";
import { GENERATION_TABLES } from "./generations";

/** Requests and responses of one generation. */
export type Dialect = ReturnType<typeof dialectOf>;

/** An MCIS (`mcis`) or infra (`infra`). Decisions use the status of its VMs; its own is for display only. */
export type Infrastructure = z.output<Dialect["infrastructure"]>;
/** A connection to a region of a cloud, with credentials that the server stores. */
export type Connection = z.output<Dialect["connection"]>;
export type LoadBalancer = z.output<Dialect["loadBalancer"]>;

/** An object of one kind, as the server records it: "vNets". */
export type FoundRecord<Kind extends "vNets" | "securityGroups" | "sshKeys" | "images" | "specs"> = z.output<
  NonNullable<Dialect[Kind]>["answer"]
>;

/** A desired load balancer for a VM group, of which there is one per group. */
export interface DesiredLoadBalancer {
  readonly group: string;
  /** Port of the listener. */
  readonly port: number;
  /** Port of the VMs. */
  readonly targetPort: number;
}

/** What every object is created with. */
export interface DesiredCloudObject {
  readonly name: string;
  readonly connection: string;
  readonly description?: string;
}

/** Requests and responses for one kind of object. */
export interface ObjectDialect<Desired, FoundRecord> {
  /** Word in the path, such as "vNet"; also the field of the list. */
  readonly type: string;
  /** Whether the server stores the description of the request. */
  readonly keepsDescription: boolean;
  /** Whether the server can list the objects; otherwise they are read by name. */
  readonly isListed: boolean;
  /** Query of a creation, such as "?action=registerWithInfo". */
  readonly createQuery: string;
  readonly deleteQuery: string;
  /** Query that deletes the record of an object that the cloud no longer has; "" if the server has none. */
  readonly forceQuery: string;
  body(desired: Desired): object;
  readonly answer: z.ZodType<FoundRecord>;
}

const SSH_PORT = 22;
/** Status of a VM whose status the server leaves empty, so that messages have a word for it. */
const NO_STATUS = "Unknown";

const sshPort = wholeNumber.transform((value) => value || SSH_PORT);
/** Fields of VMs and of a whole infrastructure. */
const STATUS = { name: [z.string().transform(oneLine), "id"], status: [answerWord, "status"] } as const;
/** Fields of every object. */
const OBJECT = {
  name: [answerWord, "id|name"],
  connection: [answerWord, "connectionName"],
  description: [answerText, "description"],
} as const;

function objectDialect<Desired, const Own extends AnswerFields>(
  type: string,
  body: (desired: Desired) => object,
  fields: Own,
  options: Partial<ObjectDialect<Desired, unknown>> = {},
) {
  return {
    type,
    keepsDescription: true,
    isListed: true,
    createQuery: "",
    deleteQuery: "",
    forceQuery: "",
    ...options,
    body: (desired: DesiredCloudObject & Desired) => {
      const { name, connection, description = "" } = desired;
      return { name, connectionName: connection, description, ...body(desired) };
    },
    answer: record({ ...OBJECT, ...fields }),
  };
}

/**
 * Returns the requests and responses of a generation, from its table.
 * @param hide removes the client's credentials from a message of the server
 */
export function dialectOf(generation: Generation, hide: (words: string) => string) {
  const message = answerText.transform((words) => (words === "" ? "" : hide(remoteWords(words))));
  /** `mcis` has one message, `infra` a list. */
  const messages = z
    .union([list(message), message])
    .transform((all) => [all].flat().filter((one) => one !== ""));
  const {
    answers,
    requests,
    registersImages,
    listsSpecs,
    deleteVNetQuery,
    forceVNetQuery,
    rulePorts,
    ...table
  } = GENERATION_TABLES[generation];
  const machine: z.ZodType<VirtualMachine> = record({
    ...STATUS,
    status: [answerWord.transform((status) => status || NO_STATUS), "status"],
    group: [answerWord, answers.machine.group],
    targetAction: [answerWord, "targetAction"],
    systemMessage: [message, "systemMessage"],
    region: [answerWord, answers.machine.region],
    zone: [answerWord, answers.machine.zone],
    publicAddress: [address, "publicIP"],
    privateAddress: [address, "privateIP"],
    sshPort: [sshPort, "sshPort"],
    connection: [answerWord, "connectionName"],
    user: [answerWord, answers.machine.user],
    sshKey: [answerWord, "sshKeyId"],
    cloudId: [answerWord, answers.machine.cloudId],
    cloudName: [answerWord, answers.machine.cloudName],
  });
  const rule = record({
    direction: [answerWord, "Direction"],
    protocol: [answerWord, answers.ruleProtocol],
    ports: [rulePorts, ""],
    cidr: [answerWord, "CIDR"],
  });
  const rulesBody = (rules: readonly FirewallRule[]) => ({ firewallRules: rules.map(table.rule) });
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
    description: "",
    ...table.groupExtras(group),
  });
  return {
    ...table,
    connection: z
      .unknown()
      .superRefine((connection, context) => {
        const message = connectionReleaseIssue(
          generation,
          isObject(connection) ? Object.keys(connection) : [],
        );
        if (message !== undefined) context.addIssue({ code: "custom", message });
      })
      .pipe(
        record({
          name: [z.string().transform(oneLine), answers.connection.name],
          provider: [answerWord.transform((value) => value.toLowerCase()), answers.connection.provider],
          regionName: [answerWord, answers.connection.regionName],
        }),
      ),
    /** Undefined if the cloud reports no whole number. */
    cloudSpec: record({
      vcpus: [wholeNumber, "VCpu?.Count"],
      memoryMebibytes: [wholeNumber, answers.specMemory],
    }),
    cloudImage: record({ name: [answerWord, answers.imageName] }),
    specLookup: (connectionName: string, spec: string) => ({ connectionName, [requests.lookupSpec]: spec }),
    imageLookup: (connectionName: string, image: string) => ({
      connectionName,
      [requests.lookupImage]: image,
    }),
    machine,
    infrastructure: record({
      ...STATUS,
      description: [answerText, "description"],
      /** Errors of its creation. */
      messages: [messages, "systemMessage"],
      /** In no particular order. */
      machines: [list(machine), answers.machines],
    }),
    groupBody,
    infrastructureBody: (name: string, description: string, groups: readonly DesiredVmGroup[]) => ({
      name,
      description,
      // With any other value, the server installs an agent and waits for it.
      installMonAgent: "no",
      [requests.groups]: groups.map(groupBody),
      ...table.infrastructureExtras,
    }),
    loadBalancer: record({
      /** IP address or DNS name; undefined until known. */
      address: [address, "listener.ip|listener.dnsName"],
      status: [answerWord, "status"],
      /** Names of its VMs. */
      machines: [list(z.string()), answers.balancedMachines],
    }),
    loadBalancerBody: ({ group, port, targetPort }: DesiredLoadBalancer) => ({
      type: "PUBLIC",
      scope: "REGION",
      listener: { protocol: "TCP", port: String(port) },
      targetGroup: { protocol: "TCP", port: String(targetPort), [requests.balancedGroup]: group },
      healthChecker: {
        interval: table.defaultHealth,
        timeout: table.defaultHealth,
        threshold: table.defaultHealth,
      },
    }),
    balancedMachinesBody: (name: string) => ({ targetGroup: { [requests.balancedMachines]: [name] } }),
    vNets: objectDialect(
      "vNet",
      ({ cidr, subnet }: { readonly cidr: string; readonly subnet: string }) => ({
        cidrBlock: cidr,
        subnetInfoList: [table.subnet(subnet, cidr)],
      }),
      {
        cidr: [answerWord, "cidrBlock"],
        subnets: [list(record({ name: [answerWord, answers.subnetName] })), "subnetInfoList"],
      },
      { deleteQuery: deleteVNetQuery, forceQuery: forceVNetQuery },
    ),
    // Without the VNet, whose name the server changes in its answer.
    securityGroups: objectDialect(
      "securityGroup",
      ({ vNet, rules }: { readonly vNet: string; readonly rules: readonly FirewallRule[] }) => ({
        vNetId: vNet,
        ...rulesBody(rules),
      }),
      { rules: [list(rule).transform((rules) => rules.flatMap(readRule)), "firewallRules"] },
      { forceQuery: "?force=true" },
    ),
    sshKeys: objectDialect(
      "sshKey",
      ({ user }: { readonly user: string }) => ({ username: user }),
      {
        publicKey: [answerText, "publicKey"],
        /** PEM, secret; the server returns it on every read. */
        privateKey: [answerText, "privateKey"],
        fingerprint: [answerWord, "fingerprint"],
      },
      { forceQuery: "?force=true" },
    ),
    /** Undefined if VMs refer to the cloud's image directly. */
    images: registersImages
      ? objectDialect(
          "image",
          ({ cloudImage }: { readonly cloudImage: string }) => ({
            cspImageId: cloudImage,
            cspImageName: cloudImage,
            guestOS: "",
            keyValueList: [],
          }),
          { cloudImage: [answerWord, "cspImageId"] },
          // Registers the image without a lookup in the cloud, which takes long and uses other image names.
          { createQuery: "?action=registerWithInfo" },
        )
      : undefined,
    specs: objectDialect(
      "spec",
      ({ cloudSpec }: { readonly cloudSpec: string }) => ({ cspSpecName: cloudSpec }),
      { cloudSpec: [answerWord, "cspSpecName"] },
      { isListed: listsSpecs, keepsDescription: false },
    ),
    /** Returns the body to add rules to a security group, and to remove them. */
    rulesBody,
  };
}

/** Parses a rule of a response: one per port range; none for an unknown protocol. */
function readRule(rule: Record<"direction" | "protocol" | "ports" | "cidr", string>): FirewallRule[] {
  const protocol = (["tcp", "udp", "icmp", "all"] as const).find(
    (known) => known === rule.protocol.toLowerCase(),
  );
  if (protocol === undefined) return [];
  return rule.ports.split(",").map((ports) => {
    const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(ports.trim()) ?? [];
    return {
      direction: /^outbound$/i.test(rule.direction) ? "outbound" : "inbound",
      protocol,
      cidr: rule.cidr || "0.0.0.0/0",
      ...(from === undefined || protocol === "icmp"
        ? {}
        : { ports: [Number(from), Number(to ?? from)] as const }),
    };
  });
}
