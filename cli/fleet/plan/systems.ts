import { valueAt } from "../../../lib/validation/validation-issue";

/** Reads a value of a stack's configuration. */
type ReadValue = (key: "system" | "azimuth") => unknown;

/**
 * Returns why the nodes of a stack can't be asked whether they are Ready: what has no kubeconfig of one cluster.
 *
 * @returns the end of a sentence that begins with the stack's name; undefined for other stacks
 */
export function nodesIssue(valueOf: ReadValue): string | undefined {
  switch (valueOf("system")) {
    case "collector":
      return "is a collector, which has no nodes of its own";
    case "machine-pool":
      return "is a machine pool, whose stack has no output kubeconfig";
    case "azimuth":
      return valueAt(valueOf("azimuth"), ["waitForMachines"]) === true
        ? undefined
        : "has no output kubeconfig without azimuth.waitForMachines: true";
  }
  return undefined;
}
