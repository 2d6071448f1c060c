/** One revision of a Helm release, as the labels of its Secret tell it. */
export interface ReleaseRevision {
  /** name of the Secret */
  secret: string;
  revision: number;
  /** Helm's word: "deployed", "pending-install", … */
  status: string;
  /** when it was written last, in seconds since 1970; absent when the labels do not tell */
  writtenAt?: number;
}

/** What is known of a release besides its revisions. */
interface ReleaseState {
  /** "az-demo/demo" */
  release: string;
  /** whether the stack's state has the release */
  isRecorded: boolean;
  /** whether this stack saw, in an earlier run, that there was no such release, or took it over */
  isOurs: boolean;
  /** whether a release that others made may be taken over */
  adopt: boolean;
}

/** What has to happen before Helm can install or upgrade. */
export interface ReleaseRecovery {
  /** Secrets to delete: revisions that Helm forgets by that; the release's objects stay. */
  forget: string[];
  /** One line for each, for people. */
  steps: string[];
  /** Why the release can't be gone on with, and the mend. */
  refusal?: string;
}

const isPending = ({ status }: ReleaseRevision): boolean => status.startsWith("pending-");

/** Whether a revision is being worked on, as far as its status tells. */
export function pendingRevision(revisions: readonly ReleaseRevision[]): ReleaseRevision | undefined {
  return revisions.find(isPending);
}

/**
 * What a killed run left of a release, and how it is mended. Helm refuses a name that a revision has ("name in use"),
 * and any work while one is pending. Forgetting the revision is safe: Helm takes over objects that carry the release's
 * name.
 */
export function recoverRelease(
  revisions: readonly ReleaseRevision[],
  { release, isRecorded, isOurs, adopt }: ReleaseState,
): ReleaseRecovery {
  const inOrder = [...revisions].sort((one, other) => one.revision - other.revision);
  const last = inOrder.at(-1);
  if (!isRecorded) {
    if (!last) return { forget: [], steps: [] };
    if (!isOurs && !adopt) {
      const refusal =
        `${release} is a Helm release already (revision ${last.revision}, ${last.status}), and not of this stack; ` +
        `choose another name, or take it over with adopt: true`;
      return { forget: [], steps: [], refusal };
    }
    const why = isOurs ? "a run that was cut off" : "others";
    return {
      forget: inOrder.map(({ secret }) => secret),
      steps: inOrder.map(
        ({ revision, status }) =>
          `forget revision ${revision} (${status}) of ${release}, left by ${why}: its objects stay and are taken over`,
      ),
    };
  }
  if (!last) {
    const refusal =
      `${release} is in this stack's state, but Helm has no record of it; ` +
      `run pulumi refresh, then up installs it again over its objects`;
    return { forget: [], steps: [], refusal };
  }
  if (last.status === "uninstalling") {
    const refusal = `an uninstallation of ${release} was cut off; finish it with pulumi destroy, then run up`;
    return { forget: [], steps: [], refusal };
  }
  const pending = inOrder.filter(isPending);
  return {
    forget: pending.map(({ secret }) => secret),
    steps: pending.map(
      ({ revision, status }) =>
        `forget revision ${revision} (${status}) of ${release}, left by a run that was cut off: its objects stay`,
    ),
  };
}
