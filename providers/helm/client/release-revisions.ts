import type { KubernetesClient } from "../../../lib/kubernetes";
import { WaitTimeout } from "../../../lib/wait";
import { pendingRevision, type ReleaseRevision } from "../plan/release-record";

/** A release's namespace and name. */
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

/** Returns the revisions of a release, with one list call. */
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
    writtenAt: Number.isFinite(written) ? written : undefined,
  };
}

/**
 * How long the process that left a revision pending may still run, in seconds; Helm does not wait for resources here.
 */
const AT_WORK_SECONDS = 20;

/**
 * Waits until no process works on a release: a pending revision has ended, or is old. The process of a killed run may
 * still be running.
 */
export async function untilSettled(
  client: KubernetesClient,
  ref: ReleaseRef,
  options: { signal?: AbortSignal; progress?: (line: string) => void },
): Promise<ReleaseRevision[]> {
  try {
    return await client.watchUntil<ReleaseRevision[], RevisionSecret>({
      ...kindOfRevisions(ref),
      ...options,
      what: `the process that still works on the Helm release ${ref.namespace}/${ref.name}`,
      seconds: AT_WORK_SECONDS,
      decide: (secrets) => {
        const revisions = secrets.map(revisionOf);
        const { writtenAt, revision, status } = pendingRevision(revisions) ?? {};
        return writtenAt !== undefined && Date.now() / 1000 - writtenAt < AT_WORK_SECONDS
          ? { pending: `revision ${revision} is ${status}` }
          : { done: revisions };
      },
    });
  } catch (error) {
    if (!(error instanceof WaitTimeout)) throw error;
    return readRevisions(client, ref);
  }
}

/** Deletes revisions from Helm's records; the release's objects stay. */
export async function forgetRevisions(
  client: KubernetesClient,
  { namespace }: ReleaseRef,
  secrets: readonly string[],
): Promise<void> {
  for (const name of secrets) await client.delete({ apiVersion: "v1", kind: "Secret", namespace, name });
}
