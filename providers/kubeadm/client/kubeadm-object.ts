import { isObject } from "../../../lib/json";
import type { KubernetesClient } from "../../../lib/kubernetes";
import { readYamlOf } from "../../../lib/yaml";

/** Returns the reference of a ConfigMap in which kubeadm stores an object. */
export const kubeadmConfigMap = (name: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "kube-system",
  name,
});

/** Reads an object that kubeadm stores in the cluster; undefined when it is not there. @param key in the ConfigMap */
export async function readKubeadmObject(
  kubernetes: KubernetesClient,
  name: string,
  key: string,
): Promise<Record<string, unknown> | undefined> {
  const object = await kubernetes.get<{ data?: Record<string, string> }>(kubeadmConfigMap(name));
  const value = readYamlOf(`ConfigMap kube-system/${name}: ${key}`, object?.data?.[key] ?? "");
  return isObject(value) ? value : undefined;
}
