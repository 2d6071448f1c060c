import { parse } from "yaml";
import { lostSettings } from "../../providers/kubeadm/plan/adoption/lost-settings";
import type { TestCluster } from "./test-cluster";

/** How long an administrator's command may take, in seconds. */
export const LIMIT_SECONDS = 400;
const KUBECTL = "kubectl --kubeconfig /etc/kubernetes/admin.conf --namespace kube-system";
/** What an administrator changes by hand on a machine, so that kubeadm does not know it. */
export const BY_HAND = {
  "cp-1": `set -euo pipefail
manifests=/etc/kubernetes/manifests
before=$(pidof kube-apiserver)
sed -i 's|^    - kube-apiserver$|&\\n    - --audit-log-maxage=7|' $manifests/kube-apiserver.yaml
sed -i '/--leader-elect=/d' $manifests/kube-scheduler.yaml
timeout 200 bash -c 'until now=$(pidof kube-apiserver) && [ "$now" != "$0" ] && ${KUBECTL} get --raw /readyz >/dev/null 2>&1; do sleep 0.5; done' "$before"
${KUBECTL} set resources deployment coredns --limits memory=300Mi
${KUBECTL} set env daemonset kube-proxy BY_HAND=yes
${KUBECTL} rollout status daemonset kube-proxy --timeout 120s`,
  "w-1": "echo 'maxPods: 77' >>/var/lib/kubelet/config.yaml",
};

/** Objects with their names, by the machine that has them. */
type Written = Readonly<Record<string, readonly { object: string; current: unknown }[]>>;

/** Returns the difference of what kubeadm wrote again, in the words of `foresail adopt`. */
export const takenAway = (before: Written, after: Written): string[] =>
  Object.entries(before).flatMap(([who, objects]) =>
    lostSettings(
      objects.map(({ object, current }, at) => {
        const rendered = [after[who]?.[at]?.current];
        return { object, isOfCluster: false, current, rendered };
      }),
      true,
    ).map(
      ({ change, setting, object }) =>
        `${who}: the first rollout of versions ${change === "loses" ? "removes" : "puts back"} ${setting} of ${object}`,
    ),
  );

/** Reads what kubeadm writes again: of each machine, and of the cluster. */
export async function rewrittenObjects(cluster: TestCluster): Promise<Written> {
  const ofMachine = async (machine: string, files: Readonly<Record<string, string>>) =>
    Promise.all(
      Object.entries(files).map(async ([file, object]) => ({
        object,
        current: parse(await cluster.onMachine(machine, `cat ${file}`)) as unknown,
      })),
    );
  const kubelet = { "/var/lib/kubelet/config.yaml": "/var/lib/kubelet/config.yaml" };
  const pods = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"].map(
    (pod) => [`/etc/kubernetes/manifests/${pod}.yaml`, `the static pod ${pod}`] as const,
  );
  const objects = [
    "DaemonSet kube-proxy",
    "ConfigMap kube-proxy",
    "Deployment coredns",
    "ConfigMap coredns",
    "Service kube-dns",
  ];
  return {
    "cp-1": await ofMachine("cp-1", { ...Object.fromEntries(pods), ...kubelet }),
    "w-1": await ofMachine("w-1", kubelet),
    "the cluster": await Promise.all(
      objects.map(async (object) => ({
        object: `the ${object}`,
        current: JSON.parse(
          await cluster.onMachine("cp-1", `${KUBECTL} get ${object} --output json`),
        ) as unknown,
      })),
    ),
  };
}
