import type {
  DesiredImage,
  DesiredSecurityGroup,
  DesiredSpec,
  DesiredSshKey,
  DesiredVNet,
  FirewallRule,
  Generation,
  Image,
  SecurityGroup,
  Spec,
  SshKey,
  VNet,
} from "../plan/model";
import type { Reason } from "../plan/reasons";
import { ruleChanges, ruleWords, type ExplainedRule } from "../plan/security-rules";
import type { TumblebugObjectStep } from "../plan/steps";
import { report } from "../../../lib/pulumi/log";
import type { ResourceKind, Tumblebug } from "../client";
import type {
  ObjectInputs,
  TumblebugImageInputs,
  TumblebugSecurityGroupInputs,
  TumblebugSpecInputs,
  TumblebugSshKeyInputs,
  TumblebugVNetInputs,
} from "./objects";

/** Specifics of one kind of object. */
export interface ObjectKind<
  Inputs extends ObjectInputs,
  Desired extends { readonly name: string },
  Found extends { readonly name: string; readonly connection: string; readonly description: string },
> {
  /** Name of the kind in messages: "vNet". */
  what: Extract<TumblebugObjectStep, { kind: "create" }>["what"];
  /** CB-Ladybug's reason code if the creation fails. */
  reason: Reason;
  /** Returns the client's calls; undefined if the server's generation does not register this kind. */
  of(tumblebug: Tumblebug): ResourceKind<Desired, Found> | undefined;
  /** The generation that does not register this kind, the object that is used there instead, and its name in previews. */
  unregistered?: { generation: Generation; object(inputs: Inputs): Found; image(inputs: Inputs): string };
  /** Returns the desired object, without the fields of every kind. */
  desired(inputs: Inputs): Omit<Desired, "name" | "connection" | "description">;
  /** Returns the properties of the object for the preview's line. */
  describe(inputs: Inputs): string;
  /** Returns outputs that are only known from the created object. */
  outputs?(found: Found): object;
  /** Returns the drift that a refresh records, for an object that this stack created. */
  drift?(outputs: Inputs, found: Found): object;
  /** Returns whether a refresh recorded drift. */
  hasDrifted?(outputs: Inputs): boolean;
  /** Returns why an existing object of other owners, of the same connection, can't be used; undefined if it can. */
  mismatch?(inputs: Inputs, found: Found): string | undefined;
  /** Inputs besides the name that can't change while the object exists. */
  fixed: readonly (keyof Inputs & string)[];
  /** Completes the inputs with values that were chosen at creation. */
  complete?(olds: Partial<Inputs>, news: Inputs): Inputs;
  /** Returns the changes of an object that this stack created. */
  changes?(olds: Inputs, news: Inputs): TumblebugObjectStep[];
  /** Applies the changes. */
  change?(tumblebug: Tumblebug, inputs: Inputs, before: Inputs, found: Found): Promise<void>;
}

export const vNet: ObjectKind<TumblebugVNetInputs, DesiredVNet, VNet> = {
  what: "vNet",
  reason: "CreateVpcFailedReason",
  of: ({ vNets }) => vNets,
  desired: ({ cidr, subnet }) => ({ cidr, subnets: [{ name: subnet, cidr }] }),
  describe: ({ cidr }) => cidr,
  // An existing VNet of other owners may have subnets with other names: the first one is used.
  outputs: ({ subnets: [first] }) => (first === undefined ? {} : { subnet: first.name }),
  mismatch({ cidr }, found) {
    if (found.subnets.length === 0) return "has no subnet";
    return found.cidr === cidr
      ? undefined
      : `has the block ${found.cidr}: set \`cidr: ${found.cidr}\` for the connection`;
  },
  fixed: ["cidr"],
  complete: (olds, news) =>
    olds.name === news.name && olds.cidr !== undefined && !news.cidrWritten
      ? { ...news, cidr: olds.cidr }
      : news,
};

const bare = ({ direction, protocol, ports, cidr }: FirewallRule): FirewallRule => ({
  direction,
  protocol,
  ...(ports ? { ports } : {}),
  cidr,
});

export const securityGroup: ObjectKind<TumblebugSecurityGroupInputs, DesiredSecurityGroup, SecurityGroup> = {
  what: "securityGroup",
  reason: "CreateSecurityGroupFailedReason",
  of: ({ securityGroups }) => securityGroups,
  desired: ({ vNet, rules }) => ({ vNet, rules: rules.map(bare) }),
  describe: ({ rules }) => rules.map(ruleWords).join("; "),
  outputs: ({ rules }) => ({ there: rules.map(bare), gone: [] }),
  drift: ({ there = [] }, { rules }) => ({ there, gone: ruleChanges(rules, there).opened }),
  hasDrifted: ({ gone = [] }) => gone.length > 0,
  fixed: [],
  changes(olds, { name, rules, gone = [] }) {
    const { opened, closed } = ruleChanges(olds.rules, rules);
    const isGone = (rule: FirewallRule) => ruleChanges(gone, [rule]).opened.length === 0;
    const again = rules.filter((rule) => isGone(rule) && !opened.includes(rule));
    const steps = (kind: "open" | "reopen" | "close", some: readonly ExplainedRule[]) =>
      some.map((rule) => ({ kind, name, rule: ruleWords(rule) }));
    return [...steps("reopen", again), ...steps("open", opened), ...steps("close", closed)];
  },
  async change({ securityGroups }, { namespace, name, rules }, before, found) {
    // Compares with the server's current rules, to continue an interrupted run; rules of others are kept.
    const opened = ruleChanges(found.rules, rules).opened.map(bare);
    const { closed } = ruleChanges(before.rules, rules);
    const present = closed.filter((rule) => ruleChanges(found.rules, [rule]).opened.length === 0).map(bare);
    if (opened.length > 0) await securityGroups.addRules(namespace, found.name, opened);
    if (present.length > 0) await securityGroups.removeRules(namespace, found.name, present);
    report(`securityGroup ${name}`, `${opened.length} rules opened, ${present.length} closed`);
  },
};

export const sshKey: ObjectKind<TumblebugSshKeyInputs, DesiredSshKey, SshKey> = {
  what: "sshKey",
  reason: "CreateSSHKeyFailedReason",
  of: ({ sshKeys }) => sshKeys,
  desired: ({ user }) => ({ user }),
  describe: ({ user }) => `for ${user}`,
  outputs: ({ privateKey, publicKey, fingerprint }) => ({ privateKey, publicKey, fingerprint }),
  mismatch: (_inputs, { privateKey }) =>
    privateKey === "" ? "the server does not return its private key" : undefined,
  fixed: ["user"],
};

const cloudMismatch = (desired: string, found: string): string | undefined =>
  found === desired ? undefined : `is "${found}" in the cloud, not "${desired}"`;

export const image: ObjectKind<TumblebugImageInputs, DesiredImage, Image> = {
  what: "image",
  reason: "CreateVmImageFailedReason",
  of: ({ images }) => images,
  unregistered: {
    generation: "infra",
    object: ({ connection, cloudImage }) => ({
      ...{ name: cloudImage, connection, cloudImage, cloudId: cloudImage },
      ...{ description: "", guestOs: "" },
    }),
    image: ({ connection, cloudImage }) => `${cloudImage} of ${connection}`,
  },
  desired: ({ cloudImage }) => ({ cloudImage }),
  describe: ({ cloudImage }) => cloudImage,
  mismatch: ({ cloudImage }, found) => cloudMismatch(cloudImage, found.cloudImage),
  fixed: ["cloudImage"],
};

export const spec: ObjectKind<TumblebugSpecInputs, DesiredSpec, Spec> = {
  what: "spec",
  reason: "CreateVmSpecFailedReason",
  of: ({ specs }) => specs,
  desired: ({ cloudSpec }) => ({ cloudSpec }),
  describe: ({ cloudSpec }) => cloudSpec,
  mismatch: ({ cloudSpec }, found) => cloudMismatch(cloudSpec, found.cloudSpec),
  fixed: ["cloudSpec"],
};
