import * as pulumi from "@pulumi/pulumi";
import type { TumblebugSettings } from "../client";
import {
  NONE_STOPPED,
  shrinkingPools,
  unreadStatuses,
  type StoppedMachines,
} from "../../kubeadm/plan/machines/stopped";
import { poolSlots, type MachineGroup } from "../plan/groups";
import { stoppedStatus } from "../plan/machine-plan";
import type { RecordedCluster } from "../plan/recorded-state";
import { IN_PREVIEW, withServer, type ServerInputs } from "./server";

/** Where the VMs of a cluster are. */
interface McisRef {
  server: {
    address: string;
    generation?: ServerInputs["generation"];
    credentials?: pulumi.Input<NonNullable<ServerInputs["credentials"]>> | undefined;
    caBundle?: TumblebugSettings["caCertificates"];
  };
  namespace: string;
  /** Name of the MCIS, or infra. */
  infrastructure: string;
}

/**
 * Asks the server which machines do not run, of groups that become smaller and of those that a killed run began to
 * remove: they leave first. Asks nothing when no machine leaves.
 */
export async function readStoppedMachines(
  { server, namespace, infrastructure }: McisRef,
  groups: readonly Pick<MachineGroup, "name" | "replicas">[],
  { slots, vms, leaving, held }: Pick<RecordedCluster, "slots" | "vms" | "leaving" | "held">,
): Promise<StoppedMachines> {
  const shrinking = shrinkingPools(groups, poolSlots(slots));
  const asked = {
    ...Object.fromEntries(Object.entries(leaving).filter(([machine]) => held.includes(machine))),
    ...Object.fromEntries(
      slots.flatMap(({ machine, group }) => {
        const vm = shrinking.includes(group) ? vms[machine]?.vm : undefined;
        return vm === undefined ? [] : [[machine, vm]];
      }),
    ),
  };
  if (Object.keys(asked).length === 0) return NONE_STOPPED;
  const { address, generation = "auto", caBundle } = server;
  try {
    const credentials = await known(server.credentials);
    const settings = {
      address,
      generation,
      ...(credentials === undefined ? {} : { credentials }),
      ...(caBundle === undefined ? {} : { caCertificates: caBundle }),
    };
    const found = await withServer(
      `MCIS ${infrastructure}`,
      settings,
      ({ infrastructures }) => infrastructures.read(namespace, infrastructure),
      IN_PREVIEW,
    );
    const stopped = Object.entries(asked).flatMap(([machine, vm]) => {
      const status = missingOrStopped(found?.machines, vm);
      return status === undefined ? [] : [[machine, status] as const];
    });
    return { stopped: Object.fromEntries(stopped), refusals: [] };
  } catch (error) {
    return unreadStatuses("the VMs", "tumblebug.address", error);
  }
}

/** Returns the status of a VM that does not run; "gone" if the MCIS does not have it any more. */
function missingOrStopped(
  machines: readonly { name: string; status: string }[] | undefined,
  vm: string,
): string | undefined {
  if (machines === undefined) return undefined;
  const found = machines.find(({ name }) => name === vm);
  return found === undefined ? "gone" : stoppedStatus(found.status);
}

/** Returns the value of an input; undefined if it is not known yet. */
function known<Value>(input: pulumi.Input<Value> | undefined): Promise<Value | undefined> {
  const output = pulumi.output(input) as pulumi.Output<Value | undefined> & { isKnown: Promise<boolean> };
  return output.isKnown.then((isKnown) =>
    isKnown ? new Promise<Value | undefined>((resolve) => output.apply(resolve)) : undefined,
  );
}
