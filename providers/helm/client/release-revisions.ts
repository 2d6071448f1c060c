import type { KubernetesClient } from "../../../lib/kubernetes";
import { pendingRevision, type ReleaseRevision } from "../plan/release-record";

/** Where a release is. */
export interface ReleaseRef {
  namespace: string;
  name: string;
}

interface RevisionSecret {
  metadata: { name: string; labels?: Record<string, string> };
}

const kindOfRevisions = ({ namespace, name }: ReleaseRef) => ({
  apiVersion: "v1",
  kind: "Secret",
  namespace,
  labelSelector: `owner=helm,name=${name}`,
});

/** The revisions that Helm has of a release, by one list call. */
export async function readRevisions(
  client: Pick<KubernetesClient, "list">,
  ref: ReleaseRef,
): Promise<ReleaseRevision[]> {
  return (await client.list<RevisionSecret>(kindOfRevisions(ref))).map(revisionOf);
}

function revisionOf({ metadata: { name, labels = {} } }: RevisionSecret): ReleaseRevision {
  const written = Number(labels["modifiedAt"] ?? labels["createdAt"]);
  return {
    secret: name,
    revision: Number(labels["version"] ?? 0),
    status: labels["status"] ?? "unknown",
    ...(Number.isFinite(written) ? { writtenAt: written } : {}),
  };
}

/** How long whoever left a revision pending may still be at work, in seconds: Helm waits for nothing here. */
const AT_WORK_SECONDS = 20;

/**
 * Waits until nobody is at work on a release: a pending revision has ended, or is old. The process of a killed run may
 * still be on its way.
 */
export async function untilSettled(
  client: KubernetesClient,
  ref: ReleaseRef,
  options: { signal?: AbortSignal; progress?: (line: string) => void },
): Promise<ReleaseRevision[]> {
  const isAtWork = (revisions: ReleaseRevision[]) => {
    const writtenAt = pendingRevision(revisions)?.writtenAt;
    return writtenAt !== undefined && Date.now() / 1000 - writtenAt < AT_WORK_SECONDS;
  };
  const now = await readRevisions(client, ref);
  if (!isAtWork(now)) return now;
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), AT_WORK_SECONDS * 1000);
  try {
    return await client.watchUntil<ReleaseRevision[], RevisionSecret>({
      ...kindOfRevisions(ref),
      ...options,
      what: `whoever is still at work on the Helm release ${ref.namespace}/${ref.name}`,
      seconds: AT_WORK_SECONDS + 5,
      signal: AbortSignal.any([end.signal, ...(options.signal ? [options.signal] : [])]),
      decide: (secrets) => {
        const revisions = secrets.map(revisionOf);
        const pending = pendingRevision(revisions);
        return pending
          ? { pending: `revision ${pending.revision} is ${pending.status}` }
          : { done: revisions };
      },
    });
  } catch (error) {
    if (!end.signal.aborted || options.signal?.aborted) throw error;
    return readRevisions(client, ref);
  } finally {
    clearTimeout(timer);
  }
}

/** Deletes revisions: Helm forgets them, and the release's objects stay. */
export async function forgetRevisions(
  client: KubernetesClient,
  { namespace }: ReleaseRef,
  secrets: readonly string[],
): Promise<void> {
  for (const name of secrets) await client.delete({ apiVersion: "v1", kind: "Secret", namespace, name });
}
