import type { VNet, DesiredVNet } from "../plan/model";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { objectHandlers } from "./object-handlers";
import type { TumblebugVNetInputs as Inputs } from "./tumblebug-vnet";

export const handlers: Handlers = objectHandlers<Inputs, DesiredVNet, VNet>({
  what: "vNet",
  reason: "CreateVpcFailedReason",
  of: ({ vNets }) => vNets,
  wish: ({ name, connection, cidr, subnet }, description) => ({
    name,
    connection,
    cidr,
    subnets: [{ name: subnet, cidr }],
    description,
  }),
  describe: ({ cidr }) => cidr,
  // An existing VNet of other owners may have subnets with other names: the first one is used.
  outputs: ({ subnets: [first] }) => (first === undefined ? {} : { subnet: first.name }),
  mismatch: ({ connection, cidr }, found) =>
    found.connection !== connection
      ? `belongs to the connection ${found.connection}`
      : found.subnets.length === 0
        ? "has no subnet"
        : found.cidr !== cidr
          ? `has the block ${found.cidr}: write \`cidr: ${found.cidr}\` for the connection`
          : undefined,
  fixed: ["cidr"],
  settle: (olds, news) =>
    olds.name === news.name && olds.cidr !== undefined && !news.cidrWritten
      ? { ...news, cidr: olds.cidr }
      : news,
});
