import { readGivenFileSync } from "../../../../lib/files";
import { isKnown } from "../../../../lib/unknown";
import { messageOf } from "../../../../lib/error-message";
import { type ClusterReading, SharedReadings } from "./shared-reading";
import { type ControlPlaneAccess, readControlPlanes, untilChanged } from "../facts/unfinished-change";

/** How long a cluster may take to answer a preview at first, and for each call after that. */
const PREVIEW_SECONDS = 6;
/** How long a cluster may be silent until its machines are asked beside it. */
const EARLY_MILLISECONDS = 2000;
/** How long a cluster that did not answer is not tried again: longer than the rest of a preview takes. */
const SILENT_MILLISECONDS = 15_000;

/** Clusters that did not answer, by kubeconfig. */
const silent = new Map<string, { until: number; why: string }>();

const readings = new SharedReadings(async (kubeconfig) => {
  const { KubernetesClient } = await import("../../../../lib/kubernetes/index.js");
  const options = { seconds: PREVIEW_SECONDS, callSeconds: PREVIEW_SECONDS, readsOnly: true };
  return KubernetesClient.connect({ kubeconfig }, options);
});

/** What was read from a cluster, or why it could not be read. */
type Reading<T> = { facts: T; unread?: undefined } | { facts?: undefined; unread: string };

/**
 * Reads a cluster for a preview or a refresh, or returns why it could not be read. The resources of a run share one
 * connection, one list of the Nodes, and one wait for a cluster that does not answer.
 *
 * @param asker the resource that reads, and for what if it reads several times
 * @param kubeconfig of the resource; replaced by the reader's if the environment names it
 * @param machines how its control planes are asked whether they are in the middle of a change; without, no wait for it
 */
export async function readCluster<T>(
  asker: string,
  kubeconfig: string,
  read: (cluster: ClusterReading) => Promise<T>,
  machines: ControlPlaneAccess = {},
): Promise<Reading<T>> {
  let access = kubeconfig;
  let early: NodeJS.Timeout | undefined;
  try {
    access = observationAccess(kubeconfig);
    const known = silent.get(access);
    if (known && known.until > Date.now()) return { unread: known.why };
    silent.delete(access);
    early = setTimeout(() => void readControlPlanes(machines), EARLY_MILLISECONDS);
    return { facts: await readings.read(access, asker, read) };
  } catch (error) {
    if (!isUnreachable(error)) return { unread: messageOf(error) };
    return readAfterChange(access, asker, read, { machines, why: messageOf(error) });
  } finally {
    clearTimeout(early);
  }
}

const isUnreachable = (error: unknown) => error instanceof Error && error.name === "KubernetesUnreachable";

/** Reads a cluster that did not answer when its control plane has come to the end of a change, if it is in one. */
async function readAfterChange<T>(
  access: string,
  asker: string,
  read: (cluster: ClusterReading) => Promise<T>,
  { machines, why }: { machines: ControlPlaneAccess; why: string },
): Promise<Reading<T>> {
  try {
    if (await untilChanged(asker, access, machines))
      return { facts: await readings.read(access, asker, read) };
  } catch (error) {
    if (!isUnreachable(error)) return { unread: messageOf(error) };
  }
  silent.set(access, { until: Date.now() + SILENT_MILLISECONDS, why });
  return { unread: why };
}

/** Secret kubeconfigs of clusters that the preview of their adoption could read, by cluster. */
const adoptable = new Map<string, string>();

/**
 * Keeps the kubeconfig of a cluster for the checks of the other resources of this run, so that the preview of an adoption
 * lists what it does to each Node. It is never written to the state.
 */
export function rememberAccess(cluster: string, kubeconfig: string): void {
  adoptable.set(cluster, kubeconfig);
}

/** Inputs with which a check reads its cluster. */
interface Access extends ControlPlaneAccess {
  kubeconfig?: string;
  specification?: { name: string };
}

/**
 * Reads the cluster of a resource for its check. Undefined when the cluster does not exist yet. A kubeconfig that is
 * about to be read again has the same credentials as the one in the state.
 */
export async function readForCheck<T>(
  asker: string,
  olds: Access,
  news: Access,
  read: (cluster: ClusterReading) => Promise<T>,
): Promise<Reading<T> | undefined> {
  const given = isKnown(news.kubeconfig) ? news.kubeconfig : olds.kubeconfig;
  const known = given !== undefined && isKnown(given) ? given : undefined;
  const kubeconfig = known ?? adoptable.get(news.specification?.name ?? "");
  return kubeconfig === undefined ? undefined : readCluster(asker, kubeconfig, read, news);
}

/** Environment variable with the path of a read-only kubeconfig, for previews by users without write permission. */
export const READER_KUBECONFIG = "FORESAIL_READER_KUBECONFIG";

/**
 * Returns the kubeconfig with which check, diff and read access the cluster: the reader's if the environment names it,
 * otherwise the resource's own.
 *
 * @throws Error when the named file can't be read
 */
function observationAccess(kubeconfig: string): string {
  const file = process.env[READER_KUBECONFIG];
  const fix = `correct the variable ${READER_KUBECONFIG}`;
  return file ? readGivenFileSync(file, "the reader's kubeconfig", fix).toString("utf8") : kubeconfig;
}
