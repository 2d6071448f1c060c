import { z } from "zod";
import type {
  FirewallRule,
  Image,
  DesiredImage,
  SecurityGroup,
  DesiredSecurityGroup,
  Spec,
  DesiredSpec,
  SshKey,
  DesiredSshKey,
  VNet,
  DesiredVNet,
} from "../../plan/model";
import { list, text, wholeNumber } from "../answer";
import type { ResourceDialect } from "../dialect";

const named = { id: text, name: text, connectionName: text, description: text };

const made = (one: {
  id: string;
  name: string;
  connectionName: string;
  description: string;
}): { name: string; connection: string; description: string } => ({
  name: one.id || one.name,
  connection: one.connectionName,
  description: one.description,
});

export const vNets: ResourceDialect<DesiredVNet, VNet> = {
  type: "vNet",
  createQuery: "",
  deleteQuery: "",
  request: ({ name, connection, cidr, subnets, description = "" }) => ({
    name,
    connectionName: connection,
    cidrBlock: cidr,
    subnetInfoList: subnets.map((subnet) => ({ Name: subnet.name, IPv4_CIDR: subnet.cidr })),
    description,
  }),
  answer: z
    .looseObject({
      ...named,
      cidrBlock: text,
      subnetInfoList: list(z.looseObject({ Name: text, IPv4_CIDR: text })),
      cspVNetId: text,
      status: text,
    })
    .transform((one) => ({
      ...made(one),
      cloudId: one.cspVNetId,
      cidr: one.cidrBlock,
      subnets: one.subnetInfoList.map(({ Name, IPv4_CIDR }) => ({ name: Name, cidr: IPv4_CIDR, zone: "" })),
      status: one.status,
    })),
};

export const ruleRequest = (rule: FirewallRule) => ({
  FromPort: String(rule.ports?.[0] ?? -1),
  ToPort: String(rule.ports?.[1] ?? -1),
  IPProtocol: rule.protocol,
  Direction: rule.direction,
  CIDR: rule.cidr,
});

export const securityGroups: ResourceDialect<DesiredSecurityGroup, SecurityGroup> = {
  type: "securityGroup",
  createQuery: "",
  deleteQuery: "",
  request: ({ name, connection, vNet, rules, description = "" }) => ({
    name,
    connectionName: connection,
    vNetId: vNet,
    firewallRules: rules.map(ruleRequest),
    description,
  }),
  answer: z
    .looseObject({
      ...named,
      cspSecurityGroupId: text,
      firewallRules: list(
        z.looseObject({ FromPort: text, ToPort: text, IPProtocol: text, Direction: text, CIDR: text }),
      ),
    })
    .transform((one) => ({
      ...made(one),
      cloudId: one.cspSecurityGroupId,
      rules: one.firewallRules.flatMap((rule) =>
        readRule(rule.Direction, rule.IPProtocol, `${rule.FromPort}-${rule.ToPort}`, rule.CIDR),
      ),
    })),
};

/** Parses a rule of a response. Returns an empty list for an unknown protocol. */
export function readRule(
  direction: string,
  protocol: string,
  ports: string,
  cidr: string,
): readonly FirewallRule[] {
  const known = /^(tcp|udp|icmp|all)$/i.exec(protocol)?.[0].toLowerCase() as
    FirewallRule["protocol"] | undefined;
  if (known === undefined) return [];
  const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(ports) ?? [];
  return [
    {
      direction: /^outbound$/i.test(direction) ? "outbound" : "inbound",
      protocol: known,
      cidr: cidr || "0.0.0.0/0",
      ...(from === undefined || known === "icmp" ? {} : { ports: [Number(from), Number(to ?? from)] }),
    },
  ];
}

export const sshKeys: ResourceDialect<DesiredSshKey, SshKey> = {
  type: "sshKey",
  createQuery: "",
  deleteQuery: "",
  request: ({ name, connection, user, description = "" }) => ({
    name,
    connectionName: connection,
    username: user,
    description,
  }),
  answer: z
    .looseObject({
      ...named,
      cspSshKeyId: text,
      username: text,
      publicKey: text,
      privateKey: text,
      fingerprint: text,
    })
    .transform((one) => ({
      ...made(one),
      cloudId: one.cspSshKeyId,
      user: one.username,
      publicKey: one.publicKey,
      privateKey: one.privateKey,
      fingerprint: one.fingerprint,
    })),
};

export const images: ResourceDialect<DesiredImage, Image> = {
  type: "image",
  // Registers the image without a lookup in the cloud, which takes long and uses other image names.
  createQuery: "?action=registerWithInfo",
  deleteQuery: "",
  request: ({ name, connection, cloudImage, guestOs = "", description = "" }) => ({
    name,
    connectionName: connection,
    cspImageId: cloudImage,
    cspImageName: cloudImage,
    description,
    guestOS: guestOs,
    keyValueList: [],
  }),
  answer: z.looseObject({ ...named, cspImageId: text, guestOS: text }).transform((one) => ({
    ...made(one),
    cloudId: one.cspImageId,
    cloudImage: one.cspImageId,
    guestOs: one.guestOS,
  })),
};

export const specs: ResourceDialect<DesiredSpec, Spec> = {
  type: "spec",
  keepsDescription: false,
  createQuery: "",
  deleteQuery: "",
  request: ({ name, connection, cloudSpec, description = "" }) => ({
    name,
    connectionName: connection,
    cspSpecName: cloudSpec,
    description,
  }),
  answer: z
    .looseObject({ ...named, cspSpecName: text, numvCPU: wholeNumber, memGiB: z.number().nullish() })
    .transform((one) => ({
      ...made(one),
      cloudId: one.cspSpecName,
      cloudSpec: one.cspSpecName,
      vcpus: one.numvCPU,
      memoryMebibytes: typeof one.memGiB === "number" ? Math.round(one.memGiB * 1024) : undefined,
    })),
};
