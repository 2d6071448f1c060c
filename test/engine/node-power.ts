import type { KubernetesClient, Node } from "../../lib/kubernetes";

/** Waits until the cluster has noticed that a machine was powered on or off. */
export async function awaitPower(kubernetes: KubernetesClient, name: string, isOn: boolean): Promise<void> {
  await kubernetes.watchUntil<void, Node>({
    apiVersion: "v1",
    kind: "Node",
    name,
    what: `${name} to go ${isOn ? "on" : "off"}`,
    seconds: 30,
    decide: ([node]) => {
      const ready = node?.status?.conditions?.find(({ type }) => type === "Ready")?.status;
      return (ready === "True") === isOn ? { done: undefined } : { pending: `Ready is ${ready}` };
    },
  });
}
