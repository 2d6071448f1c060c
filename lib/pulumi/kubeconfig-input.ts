import * as pulumi from "@pulumi/pulumi";
import { acceptedKubeconfig, FetchedKubeconfig } from "../kubernetes/fetched-kubeconfig";

const STACK_REFERENCE = "pulumi:pulumi:StackReference";

/** An output, with the resources that its value comes from. */
interface Traced extends pulumi.Output<unknown> {
  allResources?: () => Promise<Set<pulumi.Resource>>;
}

/**
 * Returns a kubeconfig for clients and plugins. One that comes from an output of another stack is read like one that a
 * cluster serves: anyone who can write to that stack could run a program here. Text and configuration stay as they are.
 */
export function kubeconfigInput<Value>(kubeconfig: pulumi.Input<Value>): pulumi.Input<Value> {
  if (!pulumi.Output.isInstance(kubeconfig)) return kubeconfig;
  const output = kubeconfig as pulumi.Output<Value>;
  return output.apply(async (value) => {
    const resources = await (output as unknown as Traced).allResources?.();
    const stack = [...(resources ?? [])].find((each) => typeOf(each) === STACK_REFERENCE);
    if (stack === undefined || typeof value !== "string") return value;
    return acceptedKubeconfig(new FetchedKubeconfig(FROM_STACK, value)) as Value;
  });
}

const FROM_STACK = "an output of another stack (StackReference)";

const typeOf = (resource: pulumi.Resource): unknown => (resource as { __pulumiType?: unknown }).__pulumiType;

/** The arguments of resources that are kubeconfigs. */
const NAMES = ["kubeconfig", "workloadKubeconfig"];

/** Returns the arguments of a resource with {@link kubeconfigInput} for those that are kubeconfigs. */
export function withKubeconfigInputs(args: object): object {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]: [string, unknown]) => [
      name,
      NAMES.includes(name) ? kubeconfigInput(value) : value,
    ]),
  );
}
