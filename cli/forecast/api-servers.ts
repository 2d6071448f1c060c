import { isIP, isIPv6 } from "node:net";
import { stringify } from "yaml";
import { KubernetesClient } from "../../lib/kubernetes";
import type { PodParts } from "../../lib/kubernetes/drain/plan";
import { readYaml } from "../../lib/yaml";
import { CONTROL_PLANE_LABEL } from "../../providers/kubeadm/plan/cluster/machine";

/** The fields of a v1 Node that lead to its API server. */
export interface ControlPlaneParts {
  metadata?: { name?: string; labels?: Record<string, string> };
  status?: { addresses?: { type: string; address: string }[] };
}

/** One API server of a cluster with several. */
export interface ApiServer {
  node: string;
  /** "https://10.0.0.2:6443"; undefined when no address is known */
  address?: string;
}

/** kubeadm writes it on each kube-apiserver's Pod. */
const ADVERTISED = "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint";
const PORT = 6443;

/**
 * Returns the API servers of all control planes, each at the address that kubeadm recorded on its Pod, else at its
 * node's internal address and kubeadm's port.
 */
export function apiServersOf(
  nodes: readonly ControlPlaneParts[],
  pods: readonly PodParts[] = [],
): ApiServer[] {
  const planes = nodes.filter(({ metadata }) => CONTROL_PLANE_LABEL in (metadata?.labels ?? {}));
  return planes.map(({ metadata, status }) => {
    const node = metadata?.name ?? "?";
    const pod = pods.find(
      ({ metadata: { namespace, name } = {} }) =>
        namespace === "kube-system" && name === `kube-apiserver-${node}`,
    );
    const internal = status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "";
    const address = advertised(pod?.metadata?.annotations?.[ADVERTISED]) ?? urlOf(internal, PORT);
    return { node, ...(address !== undefined && { address }) };
  });
}

/** Returns the address of "10.0.0.2:6443" or "[fd00::2]:6443"; undefined for any other text. */
function advertised(text = ""): string | undefined {
  const [, host = "", port] = /^\[?([0-9a-fA-F.:]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  return urlOf(host, Number(port));
}

function urlOf(host: string, port: number): string | undefined {
  if (isIP(host) === 0 || !(port >= 1 && port <= 65_535)) return undefined;
  return `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** What the API servers of a cluster reported. */
interface ServerMetrics {
  /** in Prometheus text format, of all that answered */
  text: string;
  /** "cp-2 (https://10.0.0.2:6443)", each API server that was not asked */
  unasked: string[];
}

const SECONDS = 3;

/**
 * Reads the metrics of every API server, since each one counts only its own requests. Sends the credentials only to
 * servers whose certificate the kubeconfig's own authority signed; without one it asks no other server.
 *
 * @param kubeconfig a kubeconfig with one context
 * @param own the metrics of the kubeconfig's own server, which may be any of them
 */
export async function readServerMetrics(
  kubeconfig: string,
  servers: readonly ApiServer[],
  own: string,
): Promise<ServerMetrics> {
  if (servers.length < 2) return { text: own, unasked: [] };
  const config = readYaml(kubeconfig) as SingleContext;
  const { server: current } = config.clusters[0].cluster;
  const mayAsk = namesItsAuthority(config.clusters[0].cluster);
  const addresses = new Set(servers.flatMap(({ address }) => address ?? []));
  addresses.delete(URL.canParse(current) ? new URL(current).origin : current);
  const texts = new Map<string, string | undefined>();
  const ask = async (address: string) => {
    const cluster = { ...config.clusters[0].cluster, server: address };
    const other = stringify({ ...config, clusters: [{ ...config.clusters[0], cluster }] });
    texts.set(address, mayAsk ? await metricsOf(other) : undefined);
  };
  await Promise.all([...addresses].map(ask));
  const unasked = servers.filter(
    ({ address }) => address === undefined || (addresses.has(address) && texts.get(address) === undefined),
  );
  return {
    text: [own, ...texts.values()].filter((text) => text !== undefined).join("\n"),
    unasked: unasked.map(({ node, address }) => `${node} (${address ?? "its address is unknown"})`),
  };
}

interface Cluster {
  server: string;
  "insecure-skip-tls-verify"?: boolean;
  "certificate-authority"?: string;
  "certificate-authority-data"?: string;
}

interface SingleContext {
  clusters: [{ cluster: Cluster }];
}

/**
 * Returns whether a kubeconfig verifies servers by an authority that it names. Without one, every server with a public
 * certificate is trusted, and the addresses come from the cluster.
 */
export function namesItsAuthority(cluster: Cluster): boolean {
  const { server, "certificate-authority": file, "certificate-authority-data": data } = cluster;
  if (cluster["insecure-skip-tls-verify"] || !URL.canParse(server)) return false;
  return new URL(server).protocol === "https:" && Boolean(data || file);
}

/** Returns an API server's metrics; undefined if it can't be reached, is not trusted or refuses. */
async function metricsOf(kubeconfig: string): Promise<string | undefined> {
  try {
    const options = { seconds: SECONDS, callSeconds: SECONDS, readsOnly: true, authorizedPath: "/version" };
    const client = await KubernetesClient.connect({ kubeconfig }, options);
    try {
      const metrics = await client.call({ method: "GET", path: "/metrics" }, true);
      return typeof metrics === "string" ? metrics : undefined;
    } finally {
      client.close();
    }
  } catch {
    return undefined;
  }
}
