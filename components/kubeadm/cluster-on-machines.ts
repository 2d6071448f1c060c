import { z } from "zod";
import { refuseArguments } from "../../lib/pulumi/arguments";
import type { Readable } from "../../lib/validation/check";
import { clusterNameIssue } from "../../lib/validation/names";
import { below, issueAt } from "../../lib/validation/validation-issue";
import { type BaseCluster, withoutMachines } from "../../stacks/schema/cluster";
import type { System } from "../../stacks/schema/keys";
import { flag, port } from "../../stacks/schema/rule";
import { checkedArguments, type Rules } from "../arguments";
import {
  type CheckedArgs,
  ClusterArguments,
  type KubeadmClusterArgs,
  PLAIN,
  PLAIN_ENDPOINT,
} from "./kubeadm-cluster-args";
import { credentialIssues, withWritten } from "./validation";

/** The cluster on machines of pools or groups, whose name is that of the whole. */
export type ClusterOnArgs = Omit<KubeadmClusterArgs, "name" | "machines" | "endpoint" | "lost">;
export type CheckedClusterOn = Omit<CheckedArgs, "name" | "machines" | "endpoint" | "lost">;

/**
 * Returns the schema of a cluster on machines of pools or groups. As in 0.1.0, a program may write that fields of existing
 * machines are off, and `allowEvenControlPlanes`, which the rule for the pool does not ask.
 */
const clusterOn = (system: System) => {
  const off = z.literal(false, { error: 'is only for the system "ssh"; remove it' }).optional();
  return ClusterArguments.extend({
    ...withoutMachines(system),
    adopt: off,
    resetOnDestroy: off,
    allowEvenControlPlanes: z.boolean().optional(),
  }).omit({ name: true });
};

/** Returns a cluster on machines of pools or groups as the rules of a stack file take it, which has no fields that are off. */
export const asInStackFile = (cluster: object = {}) => cluster as Readable<BaseCluster>;

/**
 * Returns the fields that components which make machines have in addition to the section of a stack file, or in place of its
 * own. A program that allows every address says so by the block itself.
 */
export const onMachines = <Access extends z.ZodRawShape>(system: System, access: z.ZodObject<Access>) => ({
  access: access.extend({ open: flag(true, ""), ssh: z.array(z.string()) }),
  sshPort: port().optional(),
  cluster: clusterOn(system),
});

/**
 * Returns the arguments of a component that makes machines and a cluster on them, checked and with the defaults of a stack file.
 *
 * @param component its class, for messages
 * @param name of the resource and of the cluster
 * @param given the arguments by their current names
 * @throws pulumi.InputPropertiesError with all issues
 */
export function checkedOnMachines<Schema extends z.ZodObject>(
  component: string,
  name: string,
  schema: Schema,
  given: { cluster: ClusterOnArgs },
  { plain = [], ...rules }: Rules<Schema>,
): Omit<z.output<Schema>, "cluster"> & { cluster: CheckedClusterOn } {
  const named = `${component} ${name}`;
  refuseArguments(named, [
    ...issueAt(["name"], clusterNameIssue(name)),
    ...below(["cluster"], credentialIssues(given.cluster)),
  ]);
  const checked = checkedArguments(named, schema, given, {
    ...rules,
    plain: [...plain, "sshPort", ...PLAIN_ENDPOINT, ...PLAIN.map((path) => `cluster.${path}`)],
  });
  const cluster = withWritten(checked["cluster"] as object, given.cluster) as CheckedClusterOn;
  return { ...checked, cluster };
}
