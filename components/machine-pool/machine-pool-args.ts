import type * as pulumi from "@pulumi/pulumi";
import { kubeconfigIssue } from "../../lib/validation/kubeconfigs";
import { MachinePoolSection } from "../../stacks/schema/machine-pool";
import { text } from "../../stacks/schema/rule";
import type { z } from "zod";
import { MACHINE_POOL_RENAMES } from "../../providers/machine-pool/plan/manifest";
import { withCurrentNames } from "../../lib/pulumi/arguments";
import { type ArgumentsOf, checkedArguments } from "../arguments";

/** Schema of the arguments: those of a stack file, and the clusters that the pool is on. */
export const MachinePoolArguments = MachinePoolSection.extend({
  kubeconfig: text(kubeconfigIssue).describe(
    "Kubeconfig of the management cluster, with one context. Secret.",
  ),
  workloadKubeconfig: text(kubeconfigIssue)
    .optional()
    .describe(
      "Kubeconfig of the workload cluster; when absent, from the Secret <cluster>-kubeconfig on the management cluster.",
    ),
});

type Fields = Omit<ArgumentsOf<z.input<typeof MachinePoolArguments>>, Own>;
type Own = "name" | "bootstrap" | "infrastructure" | "api" | "timeouts";
type Section = z.input<typeof MachinePoolSection>;

/** An object that the pool refers to: created or adopted if it has a specification, otherwise only referred to. */
export type PoolObjectArgs = ArgumentsOf<PoolObject>;
type PoolObject = NonNullable<Section["bootstrap"]["config"]>;

/** The object that creates the machines. */
export type InfrastructureArgs = ArgumentsOf<Infrastructure>;
type Infrastructure = Section["infrastructure"];

/** Deadlines of the stages that a pool goes through, in seconds. */
export type MachinePoolTimeouts = Required<NonNullable<Section["timeouts"]>>;

/** The fields of a stack file's section `machinePool`, with the same rules and defaults (docs/configuration.md). */
export interface MachinePoolArgs extends Fields {
  /** Name of the MachinePool. @default the resource's */
  name?: pulumi.Input<string>;
  /** The source of the machines' join data; the Secret "" for a managed pool, whose provider needs none. */
  bootstrap: { config: PoolObjectArgs } | { dataSecretName: pulumi.Input<string> };
  /** The object that creates the machines. */
  infrastructure: InfrastructureArgs;
  /** Version of Cluster API's API. @default "v1beta1" */
  api?: "v1beta1" | "v1beta2";
  /** @default 600 for the bootstrap data, 1800 for each other stage */
  timeouts?: Partial<MachinePoolTimeouts>;
}

/** Returns the arguments with their current names and the defaults. @throws pulumi.InputPropertiesError with all issues */
export function checkedPool(
  resourceName: string,
  given: MachinePoolArgs,
): z.output<typeof MachinePoolArguments> {
  const component = `MachinePool ${resourceName}`;
  const current = withCurrentNames(component, given, MACHINE_POOL_RENAMES);
  const named = { ...current, name: current.name ?? resourceName };
  return checkedArguments(component, MachinePoolArguments, named, {
    plain: ["api", "timeouts", "bootstrap.config.use", "infrastructure.use", "annotations.use"],
  });
}
