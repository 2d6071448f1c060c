import { printable } from "../../../lib/text/quote";

/**
 * Returns why the cluster of a stack can't have another name, or undefined.
 *
 * @param before the name in the state; undefined in a new stack and in state of earlier releases
 * @param now the configured name; undefined in a program with clusters of its own
 */
export function renamedCluster(before: string | undefined, now: string | undefined): string | undefined {
  if (before === undefined || now === undefined || before === now) return undefined;
  return (
    `the cluster of this stack is ${printable(before)}, and can't be renamed to ${printable(now)}: its machines, its certificates and its objects in a cloud have its name. ` +
    `Write cluster.name: ${printable(before)}, or, to have a new cluster instead, run \`pulumi destroy\` first`
  );
}
