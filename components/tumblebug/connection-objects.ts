import type * as pulumi from "@pulumi/pulumi";
import type { DeepInput } from "../../lib/pulumi/dynamic-resource";
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
import type { ServerInputs } from "../../providers/tumblebug/resources/server";
import {
  TumblebugImage,
  TumblebugSecurityGroup,
  TumblebugSpec,
  TumblebugSshKey,
  TumblebugVNet,
} from "../../providers/tumblebug/resources/objects";
import type { ConnectionObjects } from "../../providers/tumblebug/resources/machines";
import type {
  ObjectName,
  TumblebugPlan,
  TumblebugPlanInputs,
} from "../../providers/tumblebug/resources/plan";

/** Arguments for the objects of all connections. */
export interface DesiredObjects {
  server: pulumi.Output<ServerInputs>;
  namespace: string;
  prefix: string;
  keepOnDelete: boolean;
  mark: pulumi.Input<string>;
  plan: TumblebugPlan;
  user: string;
  connections: readonly { name: string; cidr: string; cidrWritten: boolean }[];
  slots: readonly Slot[];
  /** Security group → rules that were removed outside of this stack. */
  goneRules: Readonly<Record<string, FirewallRule[]>>;
  /** Returns the traffic that the machines of a connection accept. */
  security: (cidr: string) => DesiredSecurity;
}

/** The objects that VMs are created from, by the server's names. */
export interface MadeObjects {
  objects: Record<string, DeepInput<ConnectionObjects>>;
  specs: Record<string, pulumi.Output<string>>;
  images: Record<string, pulumi.Output<string>>;
  /** Connection → private SSH key for its machines. Secret. */
  privateKeys: Record<string, pulumi.Output<string>>;
}

type Names = Pick<DesiredObjects, "namespace" | "prefix"> & { slots: readonly Slot[] };

/** Returns the names of all objects that VMs are created from, for TumblebugPlan to look up. */
export function objectNames(
  { namespace, prefix, slots }: Names,
  connections: readonly string[],
): TumblebugPlanInputs["objects"] {
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
    images: distinct(slots, "image").map(({ connection, value }) => ({
      name: imageName(namespace, prefix, connection, value),
      connection,
      cloudImage: value,
    })),
    specs: distinct(slots, "spec").map(({ connection, value }) => ({
      name: specName(namespace, prefix, connection, value),
      connection,
    })),
  };
}

const hasControlPlanes = (slots: readonly Slot[], connection: string): boolean =>
  slots.some((slot) => slot.connection === connection && slot.role === "control-plane");

/** Returns the distinct machine types or images per connection. */
function distinct(slots: readonly Slot[], field: "spec" | "image") {
  const all = slots.map((slot) => ({ connection: slot.connection, value: slot[field] }));
  return [...new Map(all.map((one) => [factKey(one.connection, one.value), one])).values()];
}

/** Creates the objects that VMs are created from, in all connections. */
export function makeObjects(
  desired: DesiredObjects,
  opts: pulumi.CustomResourceOptions & { parent: pulumi.Resource },
): MadeObjects {
  const { server, namespace, prefix, keepOnDelete, mark, plan, slots, user } = desired;
  const common = (kind: string, name: string, connection: string) => ({
    server,
    namespace,
    name,
    connection,
    mark,
    keepOnDelete,
    foreign: plan.found.apply(({ foreign }) => foreign.includes(`${kind}/${name}`)),
  });
  const made: MadeObjects = { objects: {}, specs: {}, images: {}, privateKeys: {} };
  for (const { name: connection, cidr, cidrWritten } of desired.connections) {
    const names = connectionNames(namespace, prefix, connection);
    const vNet = new TumblebugVNet(
      names.vNet,
      { ...common("vNets", names.vNet, connection), cidr, cidrWritten, subnet: names.subnet },
      opts,
    );
    const group = (role: "nodes" | "controlPlanes") => {
      const gone = desired.goneRules[names[role]];
      return new TumblebugSecurityGroup(
        names[role],
        {
          ...common("securityGroups", names[role], connection),
          vNet: vNet.object,
          rules: securityRules(role, desired.security(cidr)),
          ...(gone ? { gone } : {}),
        },
        opts,
      ).object;
    };
    const key = new TumblebugSshKey(
      names.sshKey,
      { ...common("sshKeys", names.sshKey, connection), user },
      opts,
    );
    made.objects[connection] = {
      vNet: vNet.object,
      subnet: vNet.subnet,
      nodes: group("nodes"),
      ...(hasControlPlanes(slots, connection) ? { controlPlanes: group("controlPlanes") } : {}),
      sshKey: key.object,
    };
    made.privateKeys[connection] = key.privateKey;
  }
  for (const { connection, value } of distinct(slots, "spec")) {
    const name = specName(namespace, prefix, connection, value);
    const spec = new TumblebugSpec(name, { ...common("specs", name, connection), cloudSpec: value }, opts);
    made.specs[factKey(connection, value)] = spec.object;
  }
  for (const { connection, value } of distinct(slots, "image")) {
    const name = imageName(namespace, prefix, connection, value);
    const image = new TumblebugImage(
      name,
      { ...common("images", name, connection), cloudImage: value },
      opts,
    );
    made.images[factKey(connection, value)] = image.object;
  }
  return made;
}
