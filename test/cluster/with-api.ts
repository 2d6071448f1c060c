import { KubernetesClient } from "../../lib/kubernetes";

/** Works with a cluster's API, and closes the client afterwards. */
export async function withApi<T>(
  kubeconfig: string,
  work: (client: KubernetesClient) => Promise<T>,
): Promise<T> {
  const client = await KubernetesClient.connect({ kubeconfig }, { seconds: 60 });
  try {
    return await work(client);
  } finally {
    client.close();
  }
}
