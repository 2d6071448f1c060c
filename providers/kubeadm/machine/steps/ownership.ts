import { NODE_PATHS } from "../../plan/node-paths";
import { quote } from "./script";

const RESET_LOG = `${NODE_PATHS.logs}/reset.log`;

/** Shell condition: kubeadm's backups are left over from an earlier foresail, whose reset ran after they were made. */
const LEFT_BY_RESET = `grep -qs ' reset ended with 0$' ${RESET_LOG} && [ -z "$(find ${NODE_PATHS.backups} -newer ${RESET_LOG} -print -quit)" ]`;

/**
 * Returns shell lines that refuse a machine with Kubernetes files which foresail did not create for this cluster.
 * foresail never wipes a cluster that it did not create. Exit code 78, with the machine's name in the message.
 */
export function refuseForeignMachine(cluster: string, machine: string): string {
  const ours = `cluster=${cluster} machine=${machine}`;
  return `
owner=$(cat ${NODE_PATHS.marker} 2>/dev/null || true)
if [ -n "$owner" ] && [ "$owner" != ${quote(ours)} ]; then
  fail ${quote(`${machine}: this machine belongs to another foresail cluster or carries another name (`)}"$owner"${quote(`); take it out of that one first, or remove ${NODE_PATHS.marker} if that cluster is gone`)} 78
fi
if [ -z "$owner" ] && [ -n "$(find /etc/kubernetes -path ${NODE_PATHS.backups} -prune -o -type f -print -quit 2>/dev/null)" ]; then
  fail ${quote(`${machine}: /etc/kubernetes holds files that foresail did not make; it never wipes a cluster it did not make. If nothing on this machine is needed, run there: kubeadm reset --force; rm -rf /etc/kubernetes/*`)} 78
fi
if [ -z "$owner" ] && [ -n "$(find ${NODE_PATHS.backups} -type f -print -quit 2>/dev/null)" ] && ! { ${LEFT_BY_RESET}; }; then
  fail ${quote(`${machine}: ${NODE_PATHS.backups} holds backups that kubeadm made of another cluster, which may contain a copy of its etcd. If nobody needs them, run there: rm -rf ${NODE_PATHS.backups}`)} 78
fi`.trim();
}

/**
 * Returns shell lines that claim the machine for this cluster, and remove backups left by an earlier reset of foresail.
 */
export function claimMachine(cluster: string, machine: string): string {
  return [
    `if [ -z "$owner" ]; then rm -rf ${NODE_PATHS.backups}; fi`,
    `printf '%s\\n' ${quote(`cluster=${cluster} machine=${machine}`)} > ${NODE_PATHS.marker}`,
  ].join("\n");
}
