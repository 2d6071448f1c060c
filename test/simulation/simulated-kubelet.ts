import type { KubernetesClient, Pod } from "../../lib/kubernetes";

const FOREVER_SECONDS = 1_000_000;

/**
 * Simulates the kubelets' part in the life cycle of pods: a pod on a machine that is on runs and is ready at once, and is
 * gone at once when it is deleted.
 *
 * @param isOn whether the machine of that name is one of the fleet, and on
 */
export async function tendPods(client: KubernetesClient, isOn: (node: string) => boolean): Promise<void> {
  // an unchanged pod is the same object in the next call: ten thousand of them would keep this process busy for minutes
  const seen = new WeakSet<Pod>();
  await client.watchUntil<never, Pod>({
    what: "pods",
    apiVersion: "v1",
    kind: "Pod",
    seconds: FOREVER_SECONDS,
    decide: (pods) => {
      for (const pod of pods) {
        if (seen.has(pod) || !isOn(pod.spec?.nodeName ?? "")) continue;
        seen.add(pod);
        const work = pod.metadata?.deletionTimestamp
          ? "end"
          : pod.status?.phase === "Pending"
            ? "begin"
            : undefined;
        if (!work) continue;
        (work === "end" ? endPod(client, pod) : beginPod(client, pod)).catch(() => seen.delete(pod));
      }
      return { pending: "" };
    },
  });
}

function endPod(client: KubernetesClient, pod: Pod): Promise<unknown> {
  return client.delete(reference(pod), { gracePeriodSeconds: 0, uid: pod.metadata?.uid });
}

function beginPod(client: KubernetesClient, pod: Pod): Promise<unknown> {
  const conditions = ["Initialized", "ContainersReady", "Ready"].map((type) => ({ type, status: "True" }));
  const status = { phase: "Running", conditions };
  return client.mergePatch(reference(pod), { status }, { subresource: "status" });
}

function reference(pod: Pod) {
  const { namespace, name = "" } = pod.metadata ?? {};
  return { apiVersion: "v1", kind: "Pod", namespace, name };
}
