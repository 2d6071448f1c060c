import { KubernetesClient, KubernetesError } from "../../lib/kubernetes";
import { listAll } from "../../lib/kubernetes/list";
import type { Call } from "../../lib/kubernetes/transport";
import type { Places, SchedulableNode } from "../../lib/kubernetes/drain/placement";
import type { Budget, PodParts } from "../../lib/kubernetes/drain/plan";
import type { NodeParts } from "../../providers/kubeadm/plan/rollout/observed";
import { type Distribution, distributionOf, type NodeMarks } from "./distributions";
import { asksForVolumes, type SeenCertificate } from "./findings";
import { apiServersOf, type ControlPlaneParts, readServerMetrics } from "./api-servers";
import type { ChosenContext } from "./kubeconfig";
import { X509Certificate } from "node:crypto";
import { Agent, request } from "node:https";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { isObject } from "../../lib/json";
import { readContexts } from "../../lib/kubernetes/kubeconfig-contexts";
import { proxyOf } from "../../lib/kubernetes/proxy";
import { parseYaml } from "../../lib/yaml";

/**
 * Everything that was read from a cluster; what could not be read is undefined here and described in `notes` or
 * `unread`.
 */
export interface PlanFacts {
  server: string;
  nodes: (NodeParts & SchedulableNode & NodeMarks & ControlPlaneParts)[];
  /** undefined when kubeadm made the cluster; otherwise nothing else was read */
  distribution?: Distribution;
  pods?: PodParts[];
  budgets?: Budget[];
  /** of pods under a budget; undefined also when none of them uses one */
  claims?: Places["claims"];
  volumes?: Places["volumes"];
  /** kubernetesVersion of kubeadm-config */
  clusterVersion?: string;
  /** what the API server reports, without the leading v */
  serverVersion?: string;
  certificates: SeenCertificate[];
  /** the API servers' metrics, in Prometheus text format */
  metrics?: string;
  /** the API servers that could not be asked for theirs */
  unaskedServers: string[];
  notes: string[];
  /** messages about what could not be read and may hide a blocker */
  unread: string[];
}

/** Returns the kubernetesVersion of the ConfigMap kubeadm-config without its v. */
export function clusterVersionOf(clusterConfiguration: string | undefined): string | undefined {
  const parsed = parseYaml(clusterConfiguration ?? "");
  const version = isObject(parsed) ? parsed["kubernetesVersion"] : undefined;
  return typeof version === "string" ? version.trim().replace(/^v/, "") || undefined : undefined;
}

interface Read {
  path: string;
  /** the right that the read needs: "list pods" */
  right: string;
  /** what a forecast does not know without it */
  effect: string;
  /** whether a blocker may be hidden without this; then the forecast can't be clean */
  hides?: true;
}

const PLACEMENT = "whether pods can run on another node is unknown";
const DISRUPTIONS = "whether they block a drain is unknown";
const VERSION = "the API server's version is used instead";
const SERVER_VERSION = "the API server's own version is unknown";
const KUBEADM = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";
const BUDGETS = "/apis/policy/v1/poddisruptionbudgets";
const [CLAIMS, VOLUMES] = ["/api/v1/persistentvolumeclaims", "/api/v1/persistentvolumes"];

/** The reads besides the nodes. */
const READS = {
  pods: { path: "/api/v1/pods", right: "list pods", effect: "drains were not checked", hides: true },
  budgets: { path: BUDGETS, right: "list PodDisruptionBudgets", effect: DISRUPTIONS, hides: true },
  kubeadm: { path: KUBEADM, right: "get the ConfigMap kube-system/kubeadm-config", effect: VERSION },
  version: { path: "/version", right: "get /version", effect: SERVER_VERSION },
  // the removals between the versions decide whether this can hide a blocker
  metrics: { path: "/metrics", right: "get /metrics", effect: "which API versions are in use is unknown" },
  claims: { path: CLAIMS, right: "list PersistentVolumeClaims", effect: PLACEMENT, hides: true },
  volumes: { path: VOLUMES, right: "list PersistentVolumes", effect: PLACEMENT, hides: true },
} satisfies Record<string, Read>;

/**
 * Reads a cluster with six GETs and a look at the API server's certificate; two more GETs when pods under a budget
 * have volumes, and one for each further API server. A list takes one GET for every 500 objects. Changes nothing.
 * Reports missing rights; only the nodes must be readable.
 *
 * @throws KubernetesUnreachable, KubernetesError
 */
export async function readForecastFacts(chosen: ChosenContext, seconds: number): Promise<PlanFacts> {
  const client = await KubernetesClient.connect({ kubeconfig: chosen.kubeconfig }, { seconds });
  const notes: string[] = [];
  const unread: string[] = [];
  const call = <Answer>(asked: Call): Promise<Answer> => client.call(asked, true);
  /** @returns undefined when the cluster has no such object, or these credentials may not read it */
  const readBy = async <Answer>(
    { path, right, effect, hides }: Read,
    ask: () => Promise<Answer>,
    absent?: () => void,
  ) => {
    const said = hides ? unread : notes;
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof KubernetesError)) throw error;
      if (error.status === 403 || error.status === 401)
        said.push(`these credentials may not ${right}: ${effect}`);
      else if (error.status !== 404) throw error;
      else if (absent) absent();
      else said.push(`the cluster has no ${path}: ${effect}`);
      return undefined;
    }
  };
  const read = <Answer>(what: Read, absent?: () => void) =>
    readBy(what, () => call<Answer>({ method: "GET", path: what.path }), absent);
  const list = async <Item>(what: Read) =>
    (await readBy(what, () => listAll<Item>(what.path, {}, call)))?.items;
  try {
    const server = client.servers[0] ?? "";
    const nodes = await client.listNodes();
    let kubeadmConfig: Parameters<typeof distributionOf>[1] = "unreadable";
    const kubeadm = await read<KubeadmConfig>(READS.kubeadm, () => (kubeadmConfig = "absent"));
    if (kubeadm) kubeadmConfig = "present";
    const version = await read<{ gitVersion?: string }>(READS.version);
    const serverVersion = version?.gitVersion?.replace(/^v/, "");
    const distribution = distributionOf(nodes, kubeadmConfig, serverVersion);
    const found = { server, nodes, serverVersion, notes, unread };
    if (distribution) return { ...found, distribution, certificates: [], unaskedServers: [] };
    const pods = await list<PodParts>(READS.pods);
    const budgets = await list<Budget>(READS.budgets);
    const metrics = await read(READS.metrics);
    const servers = apiServersOf(nodes, pods);
    const all =
      typeof metrics === "string"
        ? await readServerMetrics(chosen.kubeconfig, servers, metrics)
        : { text: undefined, unasked: [] };
    const needsVolumes = asksForVolumes(budgets ?? [], pods ?? []);
    return {
      ...found,
      pods,
      budgets,
      claims: needsVolumes ? await list<Places["claims"][number]>(READS.claims) : undefined,
      volumes: needsVolumes ? await list<Places["volumes"][number]>(READS.volumes) : undefined,
      clusterVersion: clusterVersionOf(kubeadm?.data?.ClusterConfiguration),
      certificates: await seenCertificates(server, chosen),
      metrics: all.text,
      unaskedServers: all.unasked,
    };
  } finally {
    client.close();
  }
}

type KubeadmConfig = { data?: Record<string, string> };

const SECONDS = 5;

/** Returns the certificates that need no rights to read: the API server's and the kubeconfig's own. */
async function seenCertificates(server: string, chosen: ChosenContext): Promise<SeenCertificate[]> {
  const served = await servedUntil(chosen);
  const own = chosen.clientCertificate && endOf(chosen.clientCertificate);
  const seen: SeenCertificate[] = [];
  if (served) seen.push({ what: `the API server's certificate (${server})`, notAfter: served });
  const what = `the kubeconfig's client certificate (context ${chosen.context})`;
  if (own) seen.push({ what, isOfKubeconfig: true, notAfter: own });
  return seen;
}

function endOf(pem: string): string | undefined {
  try {
    return new Date(new X509Certificate(pem).validTo).toISOString();
  } catch {
    return undefined;
  }
}

/** Reads the certificate and disconnects; on the way that the kubeconfig names. The calls before have already verified it. */
async function servedUntil({ kubeconfig }: ChosenContext): Promise<string | undefined> {
  const [context] = readContexts(kubeconfig);
  if (context === undefined || !context.cluster.server.startsWith("https:")) return undefined;
  const agent = (await proxyOf(context))?.agent ?? new Agent();
  const servername = (context.cluster["tls-server-name"] as string | null | undefined) || undefined;
  const options = { method: "HEAD", agent, servername, rejectUnauthorized: false, timeout: SECONDS * 1_000 };
  const socket = await new Promise<Duplex | undefined>((resolve) => {
    const sent = request(context.cluster.server, options, (response) => resolve(response.socket));
    const giveUp = () => resolve(void sent.destroy());
    sent.on("timeout", giveUp).on("error", giveUp).end();
  });
  const end = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : undefined;
  socket?.destroy();
  agent.destroy();
  return end ? new Date(end).toISOString() : undefined;
}
