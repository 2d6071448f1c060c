import { assertNames } from "../../plan/validation/settings";
import { plainStep, step } from "../steps";

/** How long a snapshot may take: etcd's data has at most 8 GiB, and has to pass the operator's connection. */
export const SNAPSHOT_SECONDS = 1800;

/** Takes a verified snapshot of etcd on a control plane. Answers what writeSnapshot takes, which is secret. */
export const etcdSnapshotScript = (cluster: string, machine: string) =>
  step("etcd-snapshot", cluster, machine, { CLUSTER: cluster });

/** Tells what is left of a control plane, and whether a snapshot can be restored there. Answers what parseRemains takes. */
export const restoreFactsScript = plainStep("restore-facts");

/** Takes a control plane out of service before another one is restored. Its answer is empty. */
export const fenceControlPlaneScript = plainStep("fence-control-plane");

/** How long the API server of a restored control plane may take until it is ready. */
export const READY_SECONDS = 300;

/**
 * Makes a control plane what it was in a snapshot, and waits until its API server is ready. Data: the archive of
 * etcdSnapshotScript, gzip. Its answer is empty.
 *
 * @param snapshot names the snapshot, so that a step that has ended is not repeated
 * @param gone names of the other control planes, whose Nodes go
 */
export const restoreControlPlaneScript = (
  cluster: string,
  machine: string,
  { snapshot, gone }: { snapshot: string; gone: readonly string[] },
) => {
  assertNames({ cluster });
  for (const name of gone) assertNames({ machine: name });
  return step("restore-control-plane", cluster, machine, {
    CLUSTER: cluster,
    SNAPSHOT: snapshot,
    READY_SECONDS,
    GONE: gone,
  });
};

/** Ends a restore, so that the same snapshot can be restored once more. Its answer is empty. */
export const finishRestoreScript = plainStep("finish-restore");
