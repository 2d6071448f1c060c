import type * as pulumi from "@pulumi/pulumi";
import {
  MachinePool,
  type MachinePoolArgs,
  type PoolObjectArgs,
} from "../components/machine-pool/machine-pool";
import type { MachinePoolConfiguration, MachinePoolSection } from "./schema";

/** Builds a stack of the system "machine-pool": a MachinePool on an existing management cluster. */
export function machinePool(configuration: MachinePoolConfiguration): Record<string, pulumi.Output<unknown>> {
  const { machinePool: section, managementKubeconfig, workloadKubeconfig } = configuration;
  const { version, minReadySeconds, nodeDrainTimeoutSeconds, name, bootstrap, infrastructure, ...others } =
    section;
  const { nodes, phase, counts } = new MachinePool(name, {
    ...others,
    kubeconfig: managementKubeconfig,
    ...(workloadKubeconfig && { workloadKubeconfig }),
    bootstrap: bootstrapArgs(bootstrap),
    infrastructure: objectArgs(infrastructure),
    ...(version === undefined ? {} : { version }),
    ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
    ...(nodeDrainTimeoutSeconds === undefined ? {} : { nodeDrainTimeoutSeconds }),
  });
  return { nodes, phase, counts };
}

function bootstrapArgs({
  config,
  dataSecretName = "",
}: MachinePoolSection["bootstrap"]): MachinePoolArgs["bootstrap"] {
  return config === undefined ? { dataSecretName } : { config: objectArgs(config) };
}

function objectArgs({ name, spec, ...others }: MachinePoolSection["infrastructure"]): PoolObjectArgs {
  return { ...others, ...(name === undefined ? {} : { name }), ...(spec === undefined ? {} : { spec }) };
}
