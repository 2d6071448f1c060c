import * as pulumi from "@pulumi/pulumi";
import { messageOf } from "../../../lib/error-message";
import type { TumblebugSettings } from "../client";
import { shrinkingGroups, type MachineGroup } from "../plan/groups";
import { stoppedStatus } from "../plan/machine-plan";
import type { RecordedCluster } from "../plan/recorded-state";
import type { UnmetRequirement } from "../plan/requirements";
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

/** What the server says about the machines of groups that become smaller. */
export interface StoppedMachines {
  /** Machine → status of its VM, which does not run. */
  stopped: Readonly<Record<string, string>>;
  /** Why the statuses are unknown. */
  refusals: UnmetRequirement[];
}

/**
 * Asks the server which machines do not run, of groups that become smaller and of those that a killed run began to
 * remove: they leave first. Asks nothing when no machine leaves.
 */
export async function readStoppedMachines(
  { server, namespace, infrastructure }: McisRef,
  groups: readonly Pick<MachineGroup, "name" | "replicas">[],
  { slots, vms, leaving }: Pick<RecordedCluster, "slots" | "vms" | "leaving">,
): Promise<StoppedMachines> {
  const shrinking = shrinkingGroups(groups, slots);
  const asked = {
    ...leaving,
    ...Object.fromEntries(
      slots.flatMap(({ machine, group }) => {
        const vm = shrinking.includes(group) ? vms[machine]?.vm : undefined;
        return vm === undefined ? [] : [[machine, vm]];
      }),
    ),
  };
  if (Object.keys(asked).length === 0) return { stopped: {}, refusals: [] };
  const { address, generation = "auto", caBundle } = server;
  try {
    const credentials = await known(server.credentials);
    const settings = {
      ...{ address, generation },
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
      const status = stoppedStatus(found?.machines.find(({ name }) => name === vm)?.status);
      return status === undefined ? [] : [[machine, status] as const];
    });
    return { stopped: Object.fromEntries(stopped), refusals: [] };
  } catch (error) {
    const reason = `the VMs could not be read, and those that do not run leave first: ${messageOf(error)}`;
    return { stopped: {}, refusals: [{ property: "tumblebug.address", reason }] };
  }
}

/** Returns the value of an input; undefined if it is not known yet. */
function known<Value>(input: pulumi.Input<Value> | undefined): Promise<Value | undefined> {
  const output = pulumi.output(input) as pulumi.Output<Value | undefined> & { isKnown: Promise<boolean> };
  return output.isKnown.then((isKnown) =>
    isKnown ? new Promise<Value | undefined>((resolve) => output.apply(resolve)) : undefined,
  );
}
