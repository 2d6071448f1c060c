import { NODE_PATHS } from "../paths";
import { quote } from "./script";

/**
 * Shell lines that refuse a machine whose Kubernetes files foresail did not make for this cluster. foresail
 * never wipes a cluster it did not make. Exit code 78, the machine's name in the message.
 */
export function refuseForeignMachine(cluster: string, machine: string): string {
  const ours = `cluster=${cluster} machine=${machine}`;
  return `
owner=$(cat ${NODE_PATHS.marker} 2>/dev/null || true)
if [ -n "$owner" ] && [ "$owner" != ${quote(ours)} ]; then
  fail ${quote(`${machine}: this machine belongs to another foresail cluster or carries another name (`)}"$owner"${quote(`); take it out of that one first, or remove ${NODE_PATHS.marker} if that cluster is gone`)} 78
fi
if [ -z "$owner" ] && [ -n "$(find /etc/kubernetes -type f -print -quit 2>/dev/null)" ]; then
  fail ${quote(`${machine}: /etc/kubernetes holds files that foresail did not make; it never wipes a cluster it did not make. Run "kubeadm reset" there yourself if nothing on it is needed, and empty /etc/kubernetes`)} 78
fi`.trim();
}

/** Shell line that claims the machine for this cluster. */
export function claimMachine(cluster: string, machine: string): string {
  return `printf '%s\\n' ${quote(`cluster=${cluster} machine=${machine}`)} > ${NODE_PATHS.marker}`;
}
