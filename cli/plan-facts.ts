import { KubernetesClient, KubernetesError } from "../lib/kubernetes";
import type { Places } from "../lib/kubernetes/drain/placement";
import type { Budget, PodParts } from "../lib/kubernetes/drain/plan";
import { asksForVolumes } from "./forecast/budgets";
import { clusterVersionOf, type ClusterFacts, type SeenCertificate } from "./forecast/facts";
import type { ChosenContext } from "./plan-kubeconfig";
import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";

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

/** The reads besides the nodes. */
const READS = {
  pods: { path: "/api/v1/pods", right: "list pods", effect: "drains were not looked at", hides: true },
  budgets: {
    path: "/apis/policy/v1/poddisruptionbudgets",
    right: "list PodDisruptionBudgets",
    effect: "whether they hold a drain is unknown",
    hides: true,
  },
  kubeadm: {
    path: "/api/v1/namespaces/kube-system/configmaps/kubeadm-config",
    right: "get the ConfigMap kube-system/kubeadm-config",
    effect: "the control planes' kubelets stand for the cluster's version",
  },
  // the removals between the versions decide whether this can hide a blocker
  metrics: { path: "/metrics", right: "get /metrics", effect: "which API versions are in use is unknown" },
  claims: {
    path: "/api/v1/persistentvolumeclaims",
    right: "list PersistentVolumeClaims",
    effect: PLACEMENT,
    hides: true,
  },
  volumes: {
    path: "/api/v1/persistentvolumes",
    right: "list PersistentVolumes",
    effect: PLACEMENT,
    hides: true,
  },
} satisfies Record<string, Read>;

/**
 * Reads a cluster with five GETs and a look at the API server's certificate; two more GETs when pods under a budget
 * have volumes. Changes nothing. Reports missing rights; only the nodes must be readable.
 *
 * @throws KubernetesUnreachable, KubernetesError
 */
export async function readFacts(chosen: ChosenContext, seconds: number): Promise<ClusterFacts> {
  const client = await KubernetesClient.connect({ kubeconfig: chosen.kubeconfig }, { seconds });
  const notes: string[] = [];
  const unread: string[] = [];
  const read = async ({ path, right, effect, hides }: Read): Promise<unknown> => {
    const said = hides ? unread : notes;
    try {
      return await client.call({ method: "GET", path }, true);
    } catch (error) {
      if (!(error instanceof KubernetesError)) throw error;
      if (error.status === 403 || error.status === 401)
        said.push(`these credentials may not ${right}: ${effect}`);
      else if (error.status === 404) said.push(`the cluster has no ${path}: ${effect}`);
      else throw error;
      return undefined;
    }
  };
  try {
    const server = client.servers[0] ?? "";
    const nodes = await client.listNodes();
    const pods = (await read(READS.pods)) as { items: PodParts[] } | undefined;
    const budgets = (await read(READS.budgets)) as { items: Budget[] } | undefined;
    const kubeadm = (await read(READS.kubeadm)) as { data?: Record<string, string> } | undefined;
    const metrics = await read(READS.metrics);
    const volumes = asksForVolumes(budgets?.items ?? [], pods?.items ?? []) ? await readVolumes(read) : {};
    return {
      server,
      nodes,
      pods: pods?.items,
      budgets: budgets?.items,
      ...volumes,
      clusterVersion: clusterVersionOf(kubeadm?.data?.ClusterConfiguration),
      certificates: await seenCertificates(server, chosen),
      metrics: typeof metrics === "string" ? metrics : undefined,
      notes,
      unread,
    };
  } finally {
    client.close();
  }
}

async function readVolumes(
  read: (what: Read) => Promise<unknown>,
): Promise<Pick<ClusterFacts, "claims" | "volumes">> {
  const claims = (await read(READS.claims)) as { items: Places["claims"] } | undefined;
  const volumes = (await read(READS.volumes)) as { items: Places["volumes"] } | undefined;
  return { claims: claims?.items, volumes: volumes?.items };
}

const SECONDS = 5;

/** Returns the certificates that need no rights to read: the API server's and the kubeconfig's own. */
async function seenCertificates(server: string, chosen: ChosenContext): Promise<SeenCertificate[]> {
  const served = await servedUntil(server);
  const own = chosen.clientCertificate && endOf(chosen.clientCertificate);
  return [
    ...(served ? [{ what: `the API server's certificate (${server})`, notAfter: served }] : []),
    ...(own
      ? [
          {
            what: `the kubeconfig's client certificate (context ${chosen.context})`,
            isOfKubeconfig: true as const,
            notAfter: own,
          },
        ]
      : []),
  ];
}

function endOf(pem: string): string | undefined {
  try {
    return new Date(new X509Certificate(pem).validTo).toISOString();
  } catch {
    return undefined;
  }
}

/** Reads the certificate and disconnects. The calls before have already verified it. */
function servedUntil(server: string): Promise<string | undefined> {
  const { protocol, hostname, port } = new URL(server);
  if (protocol !== "https:") return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false }, () => {
      const { valid_to: end } = socket.getPeerCertificate();
      socket.destroy();
      resolve(end ? new Date(end).toISOString() : undefined);
    });
    const giveUp = () => {
      socket.destroy();
      resolve(undefined);
    };
    socket.setTimeout(SECONDS * 1_000, giveUp);
    socket.on("error", giveUp);
  });
}
