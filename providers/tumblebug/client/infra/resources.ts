import { z } from "zod";
import type {
  FirewallRule,
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
import { readRule } from "../mcis/resources";

const named = { id: text, name: text, connectionName: text, description: text, cspResourceId: text };

const made = (one: {
  id: string;
  name: string;
  connectionName: string;
  description: string;
  cspResourceId: string;
}): { name: string; connection: string; description: string; cloudId: string } => ({
  name: one.id || one.name,
  connection: one.connectionName,
  description: one.description,
  cloudId: one.cspResourceId,
});

export const vNets: ResourceDialect<DesiredVNet, VNet> = {
  type: "vNet",
  createQuery: "",
  deleteQuery: "?action=withsubnets",
  request: ({ name, connection, cidr, subnets, description = "" }) => ({
    name,
    connectionName: connection,
    cidrBlock: cidr,
    subnetInfoList: subnets.map((subnet) => ({
      name: subnet.name,
      ipv4_CIDR: subnet.cidr,
      ...(subnet.zone === undefined ? {} : { zone: subnet.zone }),
    })),
    description,
  }),
  answer: z
    .looseObject({
      ...named,
      cidrBlock: text,
      subnetInfoList: list(z.looseObject({ id: text, name: text, ipv4_CIDR: text, zone: text })),
      status: text,
    })
    .transform((one) => ({
      ...made(one),
      cidr: one.cidrBlock,
      subnets: one.subnetInfoList.map(({ id, name, ipv4_CIDR, zone }) => ({
        name: id || name,
        cidr: ipv4_CIDR,
        zone,
      })),
      status: one.status,
    })),
};

const portsOf = ({ ports }: FirewallRule): string =>
  ports === undefined ? "" : ports[0] === ports[1] ? String(ports[0]) : ports.join("-");

export const ruleRequest = (rule: FirewallRule) => ({
  Ports: portsOf(rule),
  Protocol: rule.protocol.toUpperCase(),
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
      firewallRules: list(
        z.looseObject({ Port: text, Ports: text, Protocol: text, Direction: text, CIDR: text }),
      ),
    })
    .transform((one) => ({
      ...made(one),
      rules: one.firewallRules.flatMap((rule) =>
        (rule.Port || rule.Ports)
          .split(",")
          .flatMap((ports) => readRule(rule.Direction, rule.Protocol, ports.trim(), rule.CIDR)),
      ),
    })),
};

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
      username: text,
      verifiedUsername: text,
      publicKey: text,
      privateKey: text,
      fingerprint: text,
    })
    .transform((one) => ({
      ...made(one),
      user: one.verifiedUsername || one.username,
      publicKey: one.publicKey,
      privateKey: one.privateKey,
      fingerprint: one.fingerprint,
    })),
};

export const specs: ResourceDialect<DesiredSpec, Spec> = {
  type: "spec",
  isListed: false,
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
    .looseObject({ ...named, cspSpecName: text, vCPU: wholeNumber, memoryGiB: z.number().nullish() })
    .transform((one) => ({
      ...made(one),
      cloudId: one.cspSpecName,
      cloudSpec: one.cspSpecName,
      vcpus: one.vCPU,
      memoryMebibytes: typeof one.memoryGiB === "number" ? Math.round(one.memoryGiB * 1024) : undefined,
    })),
};
