import { step } from "../steps";

/** How long a snapshot may take: etcd's data has at most 8 GiB, and has to pass the operator's connection. */
export const SNAPSHOT_SECONDS = 1800;

/** Takes a verified snapshot of etcd on a control plane. Answers what writeSnapshot takes, which is secret. */
export const etcdSnapshotScript = (cluster: string, machine: string) =>
  step("etcd-snapshot", cluster, machine, {
    files: ["common/etcd", "common/etcd-programs"],
    CLUSTER: cluster,
  });
