import { reading } from "../adoption/adoption-steps";
import { ownerParameters, type Script } from "../steps";

const readAlarms = reading("etcd-alarms");

/** Reads the alarms of etcd's members from a control plane, for {@link isOutOfSpace}. Writes nothing. */
export const etcdAlarmsScript = (cluster: string, machine: string): Script =>
  readAlarms(cluster, machine, ownerParameters(cluster, machine));

/** Returns whether an answer of etcdAlarmsScript has the alarm of a member that is full. */
export function isOutOfSpace(answer: string): boolean {
  const { alarms } = JSON.parse(answer) as { alarms?: { alarm?: string }[] };
  return alarms?.some(({ alarm }) => alarm === "NOSPACE") ?? false;
}
