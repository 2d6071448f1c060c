import { readFileSync } from "node:fs";
import type { ClusterSpecification } from "../providers/kubeadm/plan/cluster/specification";
import type { Machine } from "../providers/kubeadm/plan/cluster/machine";
import { containerNodeSettings } from "../sandbox/nodes/container-node-settings";
import type { NodeFleet } from "../sandbox/nodes";
import { nodeKeyFile } from "../sandbox/nodes/paths";
import { clusterConfiguration, KUBERNETES_VERSION } from "../sandbox/systems/ssh-configuration";
import { planMachines, type Size } from "../sandbox/systems/cluster-size";
import type { BenchContext } from "./measurement";
import { BenchStack, type StackContent } from "./stack";

/** Machines, and a stack for a cluster on them. */
export interface Fixture {
  readonly stack: BenchStack;
  readonly content: StackContent;
  /** The specification that foresail itself would use. */
  readonly specification: ClusterSpecification;
  readonly machines: readonly Machine[];
}

/**
 * Replaces the container nodes of the fleet with new ones, and returns a stack for a new cluster on them.
 * @param versions of Kubernetes, whose programs and images are preloaded on the nodes
 */
export async function freshFixture(
  { toolchain, report }: Pick<BenchContext, "toolchain" | "report">,
  fleet: NodeFleet,
  size: Size,
  versions: readonly string[] = [KUBERNETES_VERSION],
): Promise<Fixture> {
  await fleet.deleteAll();
  const planned = planMachines(size);
  const nodes = await fleet.ensure(
    planned.map(({ name }) => ({ name, bundles: versions })),
    report,
  );
  const privateKey = readFileSync(nodeKeyFile, "utf8");
  const machines = planned.flatMap((machine, index) => {
    const node = nodes[index];
    return node === undefined ? [] : [{ ...machine, node }];
  });
  const configuration = clusterConfiguration({ machines, lost: [], privateKey }, containerNodeSettings);
  const content = { cluster: { ...configuration, name: "bench" }, privateKey };
  const stack = await BenchStack.ofForesail(toolchain, content);
  const inputs = (await stack.previewedInputs("bench-init")) as Pick<Fixture, "specification" | "machines">;
  return { stack, content, specification: inputs.specification, machines: inputs.machines };
}
