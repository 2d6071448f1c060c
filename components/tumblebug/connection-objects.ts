import type * as pulumi from "@pulumi/pulumi";
import { whenMade } from "../../lib/pulumi/left-out";
import type { DeepInput, ResourceArgs } from "../../lib/pulumi/dynamic-resource";
import type { Slot } from "../../providers/tumblebug/plan/groups";
import {
  connectionNames,
  imageName,
  specName,
  type ConnectionNames,
} from "../../providers/tumblebug/plan/names";
import type { FirewallRule } from "../../providers/tumblebug/plan/model";
import { factKey } from "../../providers/tumblebug/plan/requirements";
import { securityRules, type DesiredSecurity } from "../../providers/tumblebug/plan/security-rules";
import {
  TumblebugObject,
  TumblebugSshKey,
  TumblebugVNet,
  type ObjectInputs,
} from "../../providers/tumblebug/resources/objects";
import type { ConnectionObjects } from "../../providers/tumblebug/resources/machines";
import type {
  ObjectName,
  TumblebugPlan,
  TumblebugPlanInputs,
} from "../../providers/tumblebug/resources/plan";

/** What the names of the objects of all connections depend on. */
interface NamedObjects {
  namespace: string;
  prefix: string;
  slots: readonly Slot[];
}

/** Arguments for the objects of all connections. */
interface DesiredObjects extends NamedObjects {
  /** Arguments of every object. */
  common: Pick<ResourceArgs<ObjectInputs>, "server" | "namespace" | "mark" | "keepOnDelete">;
  plan: TumblebugPlan;
  user: string;
  connections: readonly { name: string; cidr: string; cidrWritten: boolean }[];
  /** Security group → rules that were removed outside of this stack. */
  goneRules: Readonly<Record<string, FirewallRule[]>>;
  /** The traffic that machines accept. */
  security: DesiredSecurity;
}

/** The objects that VMs are created from, by the server's names. */
export interface MadeObjects {
  objects: Record<string, DeepInput<ConnectionObjects>>;
  specs: Record<string, pulumi.Output<string>>;
  images: Record<string, pulumi.Output<string>>;
  /** Connection → private SSH key for its machines. Secret. */
  privateKeys: Record<string, pulumi.Output<string>>;
}

/** Returns the names of all objects that VMs are created from, for TumblebugPlan to look up. */
export function objectNames(
  named: NamedObjects,
  connections: readonly string[],
): TumblebugPlanInputs["objects"] {
  const { namespace, prefix, slots } = named;
  const of = (pick: (names: ConnectionNames, connection: string) => string[]): ObjectName[] =>
    connections.flatMap((connection) =>
      pick(connectionNames(namespace, prefix, connection), connection).map((name) => ({ name, connection })),
    );
  return {
    vNets: of(({ vNet }) => [vNet]),
    securityGroups: of(({ nodes, controlPlanes }, connection) =>
      hasControlPlanes(slots, connection) ? [nodes, controlPlanes] : [nodes],
    ),
    sshKeys: of(({ sshKey }) => [sshKey]),
    images: distinct(named, "image").map(({ name, connection, value }) => ({
      ...{ name, connection, cloudImage: value },
    })),
    specs: distinct(named, "spec").map(({ name, connection }) => ({ name, connection })),
  };
}

const hasControlPlanes = (slots: readonly Slot[], connection: string): boolean =>
  slots.some((slot) => slot.connection === connection && slot.role === "control-plane");

/** Returns the distinct machine types or images per connection, with the names of their objects. */
function distinct({ namespace, prefix, slots }: NamedObjects, field: "spec" | "image") {
  const nameOf = field === "spec" ? specName : imageName;
  const all = slots.map(({ connection, [field]: value }) => {
    const name = nameOf(namespace, prefix, connection, value);
    return [factKey(connection, value), { name, connection, value }] as const;
  });
  return [...new Map(all).values()];
}

/** Creates the objects that VMs are created from, in all connections. */
export function makeObjects(
  desired: DesiredObjects,
  opts: pulumi.CustomResourceOptions & { parent: pulumi.Resource },
): MadeObjects {
  const { namespace, prefix, plan, slots, user, security, goneRules } = desired;
  const common = (kind: string, name: string, connection: string) => ({
    ...desired.common,
    name,
    connection,
    foreign: whenMade(plan.found, ({ foreign }) => foreign.includes(`${kind}/${name}`)),
  });
  const made: MadeObjects = { objects: {}, specs: {}, images: {}, privateKeys: {} };
  for (const { name: connection, cidr, cidrWritten } of desired.connections) {
    const names = connectionNames(namespace, prefix, connection);
    const block = { cidr, cidrWritten, subnet: names.subnet };
    const vNetArgs = { ...common("vNets", names.vNet, connection), ...block };
    const vNet = new TumblebugVNet("TumblebugVNet", names.vNet, vNetArgs, opts);
    const group = (role: "nodes" | "controlPlanes") => {
      const name = names[role];
      const rules = { rules: securityRules(role, security), gone: goneRules[name] };
      const args = { ...common("securityGroups", name, connection), vNet: vNet.object, ...rules };
      return new TumblebugObject("TumblebugSecurityGroup", name, args, opts).object;
    };
    const keyArgs = { ...common("sshKeys", names.sshKey, connection), user };
    const key = new TumblebugSshKey("TumblebugSshKey", names.sshKey, keyArgs, opts);
    made.objects[connection] = {
      vNet: vNet.object,
      subnet: vNet.subnet,
      nodes: group("nodes"),
      ...(hasControlPlanes(slots, connection) ? { controlPlanes: group("controlPlanes") } : {}),
      sshKey: key.object,
    };
    made.privateKeys[connection] = key.privateKey;
  }
  for (const { name, connection, value } of distinct(desired, "spec")) {
    const args = { ...common("specs", name, connection), cloudSpec: value };
    made.specs[factKey(connection, value)] = new TumblebugObject("TumblebugSpec", name, args, opts).object;
  }
  for (const { name, connection, value } of distinct(desired, "image")) {
    const args = { ...common("images", name, connection), cloudImage: value };
    made.images[factKey(connection, value)] = new TumblebugObject("TumblebugImage", name, args, opts).object;
  }
  return made;
}
