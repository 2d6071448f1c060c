import * as pulumi from "@pulumi/pulumi";
import {
  controlPlaneCountMistakes,
  duplicateMachineMistakes,
  lostMachineMistakes,
  roleFieldMistakes,
} from "../../core/validation/machines";
import { formatPath, type Mistake } from "../../core/validation/mistake";
import { dnsLabelMistake, poolNameMistake } from "../../core/validation/names";
import {
  blocksOverlapMistakes,
  podBlockSizeMistakes,
  podCidrMistake,
  serviceCidrMistake,
} from "../../core/validation/network";
import { kubernetesVersionMistake } from "../../core/validation/version";
import type { KubeadmClusterArgs } from "./kubeadm-cluster-args";

/** A value of the arguments as far as it is plain: an Output is checked when it is known, by the machine itself. */
function plain<T>(value: pulumi.Input<T> | undefined): T | undefined {
  return pulumi.Output.isInstance(value) || value instanceof Promise ? undefined : value;
}

function one(path: (string | number)[], message: string | undefined): Mistake[] {
  return message === undefined ? [] : [{ path, message }];
}

/** Everything that is wrong with the plain arguments of a cluster, by the same rules as a stack's configuration. */
export function argumentMistakes(name: string, args: KubeadmClusterArgs): Mistake[] {
  const machines = args.machines.map((machine, index) => ({
    index,
    name: machine.name,
    role: machine.role,
    address: plain(machine.address),
    port: plain(machine.port) ?? 22,
    internalAddress: plain(machine.internalAddress),
    pool: machine.pool,
    apiServer: plain(machine.apiServer),
  }));
  const blocks = {
    podCidr: args.network?.podCidr ?? "10.244.0.0/16",
    serviceCidr: args.network?.serviceCidr ?? "10.96.0.0/12",
  };
  const lost = args.lost ?? [];
  return [
    ...one(["name"], dnsLabelMistake(name, 40)),
    ...one(["version"], kubernetesVersionMistake(args.version)),
    ...one(["network", "podCidr"], podCidrMistake(blocks.podCidr)),
    ...one(["network", "serviceCidr"], serviceCidrMistake(blocks.serviceCidr)),
    ...args.machines.flatMap((machine, index) => [
      ...one(["machines", index, "name"], dnsLabelMistake(machine.name)),
      ...(machine.pool === undefined ? [] : one(["machines", index, "pool"], poolNameMistake(machine.pool))),
    ]),
    ...duplicateMachineMistakes(machines),
    ...machines.flatMap((machine) => roleFieldMistakes(machine)),
    ...controlPlaneCountMistakes({
      controlPlanes: machines.filter(({ role }) => role === "control-plane").length,
      allowEvenControlPlanes: args.allowEvenControlPlanes ?? false,
      lost: lost.length,
    }),
    ...lostMachineMistakes(
      lost,
      machines.map((machine) => machine.name),
    ),
    ...blocksOverlapMistakes(blocks),
    ...podBlockSizeMistakes(blocks, machines.length),
  ];
}

/**
 * Refuses arguments that can't make a cluster, all mistakes at once, before anything is registered.
 *
 * @throws pulumi.InputPropertiesError with the path of each
 */
export function assertArguments(name: string, args: KubeadmClusterArgs): void {
  const errors = argumentMistakes(name, args).map(({ path, message }) => ({
    propertyPath: formatPath(path),
    reason: message,
  }));
  if (errors.length === 0) return;
  const list = errors.map(({ propertyPath, reason }) => `  ${propertyPath}: ${reason}`).join("\n");
  throw new pulumi.InputPropertiesError({ message: `KubeadmCluster ${name}:\n${list}`, errors });
}
