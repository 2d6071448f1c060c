import type { Machine } from "../plan/machine";
import type { ObservedNode } from "../plan/membership/nodes";
import type { NodeOutput } from "./node-group-inputs";

/** Returns the members for the stack's outputs, in the order of the configuration. */
export function nodeOutputs(machines: Machine[], observed: ObservedNode[]): NodeOutput[] {
  return machines.flatMap(({ name, role }) => {
    const node = observed.find((candidate) => candidate.name === name);
    return node ? [{ name, role, version: node.version, address: node.internalAddress }] : [];
  });
}
