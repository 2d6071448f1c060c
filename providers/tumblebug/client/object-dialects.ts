import { z } from "zod";
import type {
  DesiredImage,
  DesiredSecurityGroup,
  DesiredSpec,
  DesiredSshKey,
  DesiredVNet,
  FirewallRule,
  Image,
  SecurityGroup,
  Spec,
  SshKey,
  VNet,
} from "../plan/model";
import { list, record, text, wholeNumber } from "./answer";
import type { GenerationTable } from "./generations";

/** Requests and responses for one kind of object. */
export interface ObjectDialect<Desired extends { readonly name: string }, Found> {
  /** Word in the path, such as "vNet"; also the field of the list. */
  readonly type: string;
  /** Whether the server stores the description of the request. @default true */
  readonly keepsDescription?: boolean;
  /** Whether the server can list the objects; otherwise they are read by name. @default true */
  readonly isListed?: boolean;
  /** Query of a creation, such as "?action=registerWithInfo". */
  readonly createQuery?: string;
  readonly deleteQuery?: string;
  body(desired: Desired): object;
  readonly answer: z.ZodType<Found>;
}

const gibibytes = z
  .number()
  .nullish()
  .transform((value) => (typeof value === "number" ? Math.round(value * 1024) : undefined));

/** Fields of every object. */
const OBJECT = {
  name: [text, "id|name"],
  connection: [text, "connectionName"],
  description: [text, "description"],
} as const;

const objectBody = ({ name, connection, description = "" }: Omit<DesiredSshKey, "user">) => ({
  name,
  connectionName: connection,
  description,
});

/** Returns the requests and responses for all kinds of objects that VMs are created from. */
export function objectDialects({
  answers,
  registersImages,
  listsSpecs,
  deleteVNetQuery,
  rulePorts,
  ...table
}: GenerationTable) {
  const { cloudId } = answers;
  const vNets: ObjectDialect<DesiredVNet, VNet> = {
    type: "vNet",
    deleteQuery: deleteVNetQuery,
    body: ({ cidr, subnets, ...desired }) => ({
      ...objectBody(desired),
      cidrBlock: cidr,
      subnetInfoList: subnets.map(table.subnet),
    }),
    answer: record({
      ...OBJECT,
      cloudId: [text, cloudId.vNet],
      cidr: [text, "cidrBlock"],
      subnets: [
        list(
          record({
            name: [text, answers.subnet.name],
            cidr: [text, answers.subnet.cidr],
            zone: [text, "zone"],
          }),
        ),
        "subnetInfoList",
      ],
      status: [text, "status"],
    }),
  };
  const rule = record({
    direction: [text, "Direction"],
    protocol: [text, answers.ruleProtocol],
    ports: [rulePorts, ""],
    cidr: [text, "CIDR"],
  });
  const securityGroups: ObjectDialect<DesiredSecurityGroup, SecurityGroup> = {
    type: "securityGroup",
    body: ({ vNet, rules, ...desired }) => ({
      ...objectBody(desired),
      vNetId: vNet,
      firewallRules: rules.map(table.rule),
    }),
    answer: record({
      ...OBJECT,
      cloudId: [text, cloudId.securityGroup],
      rules: [list(rule).transform((rules) => rules.flatMap(readRule)), "firewallRules"],
    }),
  };
  const sshKeys: ObjectDialect<DesiredSshKey, SshKey> = {
    type: "sshKey",
    body: ({ user, ...desired }) => ({ ...objectBody(desired), username: user }),
    answer: record({
      ...OBJECT,
      cloudId: [text, cloudId.sshKey],
      user: [text, answers.sshUser],
      publicKey: [text, "publicKey"],
      privateKey: [text, "privateKey"],
      fingerprint: [text, "fingerprint"],
    }),
  };
  const images: ObjectDialect<DesiredImage, Image> = {
    type: "image",
    // Registers the image without a lookup in the cloud, which takes long and uses other image names.
    createQuery: "?action=registerWithInfo",
    body: ({ cloudImage, guestOs = "", ...desired }) => ({
      ...objectBody(desired),
      cspImageId: cloudImage,
      cspImageName: cloudImage,
      guestOS: guestOs,
      keyValueList: [],
    }),
    answer: record({
      ...OBJECT,
      cloudId: [text, "cspImageId"],
      cloudImage: [text, "cspImageId"],
      guestOs: [text, "guestOS"],
    }),
  };
  const specs: ObjectDialect<DesiredSpec, Spec> = {
    type: "spec",
    isListed: listsSpecs,
    keepsDescription: false,
    body: ({ cloudSpec, ...desired }) => ({ ...objectBody(desired), cspSpecName: cloudSpec }),
    answer: record({
      ...OBJECT,
      cloudId: [text, "cspSpecName"],
      cloudSpec: [text, "cspSpecName"],
      vcpus: [wholeNumber, answers.spec.vcpus],
      memoryMebibytes: [gibibytes, answers.spec.memory],
    }),
  };
  return {
    vNets,
    securityGroups,
    sshKeys,
    /** Undefined if VMs refer to the cloud's image directly. */
    images: registersImages ? images : undefined,
    specs,
    /** Returns the body to add rules to a security group, and to remove them. */
    rulesBody: (rules: readonly FirewallRule[]) => ({ firewallRules: rules.map(table.rule) }),
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
