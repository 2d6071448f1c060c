import type * as pulumi from "@pulumi/pulumi";
import { MachinePool } from "../components/machine-pool/machine-pool";
import type { MachinePoolArgs } from "../components/machine-pool/machine-pool-args";
import type { ConfigurationOf } from "./schema";

/** Builds a stack of the system "machine-pool": a MachinePool on an existing management cluster. */
export function machinePool(
  configuration: ConfigurationOf<"machine-pool">,
): Record<string, pulumi.Output<unknown>> {
  const { machinePool: section, managementKubeconfig, workloadKubeconfig } = configuration;
  const args = { ...section, kubeconfig: managementKubeconfig, workloadKubeconfig } as MachinePoolArgs;
  const { nodes, phase, counts } = new MachinePool(section.name, args);
  return { nodes, phase, counts };
}
