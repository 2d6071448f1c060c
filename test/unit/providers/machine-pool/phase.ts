import type { ObservedPool } from "../../../../providers/machine-pool/plan/observed";

/** The phases that Cluster API's MachinePool controller writes. */
export type Phase =
  | "Pending"
  | "Provisioning"
  | "Provisioned"
  | "Running"
  | "ScalingUp"
  | "ScalingDown"
  | "Scaling"
  | "Failed"
  | "Deleting";

/**
 * The phase that the MachinePool controller of Cluster API 1.7 writes for a status: its rules from the first to the
 * last, of which the last that holds wins. Without any that holds, the phase stays.
 */
export function phaseOf(pool: ObservedPool): string {
  const { bootstrapReady, infrastructureReady, nodes, counts, wanted = 0, managedBy } = pool;
  const scaling = (word: Phase): Phase => (managedBy === undefined ? word : "Scaling");
  const rules: [holds: boolean, phase: Phase][] = [
    [pool.phase === undefined, "Pending"],
    [bootstrapReady && !infrastructureReady, "Provisioning"],
    [nodes.length !== 0, "Provisioned"],
    [infrastructureReady && wanted === counts.ready, "Running"],
    [infrastructureReady && wanted > counts.ready, scaling("ScalingUp")],
    [infrastructureReady && wanted < counts.ready, scaling("ScalingDown")],
    [pool.failure !== undefined, "Failed"],
    [pool.isDeleting, "Deleting"],
  ];
  return rules.filter(([holds]) => holds).at(-1)?.[1] ?? pool.phase ?? "Pending";
}
