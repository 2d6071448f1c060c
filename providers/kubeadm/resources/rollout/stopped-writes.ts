import { messageOf } from "../../../../lib/error-message";
import { durationText } from "../../../../lib/clock";
import { OUT_OF_SPACE_ADVICE } from "../../../../lib/known-causes";
import type { KubernetesClient, LeaseObject } from "../../../../lib/kubernetes";
import { displayLine } from "../../../../lib/text/display";
import { shortened } from "../../../../lib/text/quote";
import { isKnown } from "../../../../lib/unknown";
import { etcdAlarmsScript, isOutOfSpace } from "../../machine/membership/etcd-alarms";
import { controlPlanesOf } from "../../plan/cluster/machine";
import type { NodeRolloutInputs } from "../declarations";
import { withMachines } from "../session/machines-session";
import { readForCheck } from "../session/preview-reading";

/** Kubelets renew the Leases of their Nodes each 10 seconds. */
const RENEWED_MILLISECONDS = 60_000;
const CONNECT_SECONDS = 6;
const ASK_SECONDS = 20;
/** Most characters of a reason. */
const LONGEST_REASON = 300;

/** What a preview says about a cluster that accepts no writes. */
interface StoppedWrites {
  readonly refusals: string[];
  readonly notes: string[];
}

/**
 * Finds out whether the cluster accepts no writes since its etcd is full, which reads do not show. Asks etcd, over SSH, only
 * when no Node has renewed its Lease for a minute.
 */
export async function stoppedWrites(
  resource: string,
  olds: Partial<NodeRolloutInputs>,
  inputs: NodeRolloutInputs,
): Promise<StoppedWrites> {
  const nothing = { refusals: [], notes: [] };
  const read = await readForCheck(`${resource}: Leases`, olds, inputs, ({ kubernetes }) =>
    lastRenewal(kubernetes),
  );
  const since = read?.facts === undefined ? 0 : Date.now() - read.facts;
  if (since < RENEWED_MILLISECONDS) return nothing;
  const symptom = `no Node has renewed its Lease for ${durationText(since)} by the clock here`;
  try {
    if (!isKnown(inputs.credentials)) throw new Error("no credentials for SSH are known");
    if (!(await isEtcdFull(resource, inputs))) return nothing;
    return { refusals: [OUT_OF_SPACE_ADVICE], notes: [] };
  } catch (error) {
    const why = shortened(displayLine(messageOf(error)), LONGEST_REASON);
    return {
      refusals: [],
      notes: [
        `${symptom}: the cluster may accept no writes, and etcd could not be asked for its alarms: ${why}`,
      ],
    };
  }
}

/** Returns when a Node last renewed its Lease, in milliseconds; undefined without Leases, or the right to read them. */
async function lastRenewal(kubernetes: KubernetesClient): Promise<number | undefined> {
  const { KubernetesError } = await import("../../../../lib/kubernetes/index.js");
  const args = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", namespace: "kube-node-lease" };
  const leases = await kubernetes.list<LeaseObject>(args).catch((error: unknown) => {
    if (error instanceof KubernetesError) return [];
    throw error;
  });
  const times = leases
    .map(({ spec }) => Date.parse(spec?.renewTime ?? ""))
    .filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Asks one control plane after another until one answers. @throws the last error */
async function isEtcdFull(resource: string, inputs: NodeRolloutInputs): Promise<boolean> {
  const timeouts = { ...inputs.timeouts, ssh: CONNECT_SECONDS, dial: CONNECT_SECONDS };
  return withMachines(resource, { ...inputs, timeouts }, async (session) => {
    let last: unknown = new Error("no control plane is known");
    for (const machine of controlPlanesOf(inputs.machines))
      try {
        return isOutOfSpace(await session.run(machine, etcdAlarmsScript, { seconds: ASK_SECONDS }));
      } catch (error) {
        last = error;
      }
    throw last;
  });
}
