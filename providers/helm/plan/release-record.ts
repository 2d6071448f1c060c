import { choice, whether, stepLine, number, token } from "../../../lib/steps/line";
import { defineSteps } from "../../../lib/steps/steps";

const CUT_OFF = "a run that was cut off";
const takenOver = whether("takenOver", " and are taken over");

export const releaseRecoverySteps = defineSteps({
  /** The deletion of a revision from Helm's record. */
  forget: stepLine`forget revision ${number("revision")} (${token("status")}) of ${token("release")}, left by ${choice(
    "by",
    [CUT_OFF, "others"],
  )}: its objects stay${takenOver}`,
});

/** One revision of a Helm release, from the labels of its Secret. */
export interface ReleaseRevision {
  /** name of the Secret */
  secret: string;
  revision: number;
  /** Helm's status: "deployed", "pending-install", … */
  status: string;
  /** the time of the last write, in seconds since 1970; undefined when the labels do not contain it */
  writtenAt?: number;
}

/** The facts about a release besides its revisions. */
interface ReleaseState {
  /** "az-demo/demo" */
  release: string;
  /** whether the stack's state contains the release */
  isRecorded: boolean;
  /** whether an earlier run of this stack found no such release, or took it over */
  isOurs: boolean;
  /** whether a release of another creator may be taken over */
  adopt: boolean;
}

/** What to do before Helm can install or upgrade. */
export interface RecoveryPlan {
  /** Secrets to delete: Helm then no longer has these revisions; the release's objects stay. */
  forget: string[];
  /** One message line for each. */
  steps: string[];
  /** Why the release can't be continued, and the fix. */
  refusal?: string;
}

const isPending = ({ status }: ReleaseRevision): boolean => status.startsWith("pending-");

/** Returns the revision with a pending status, if there is one. */
export function pendingRevision(revisions: readonly ReleaseRevision[]): ReleaseRevision | undefined {
  return revisions.find(isPending);
}

/**
 * Decides how to repair what a killed run left of a release. Helm refuses a name that has a revision ("name in use"),
 * and any operation while one is pending. Deleting the revision is safe: Helm takes over objects that have the
 * release's name.
 */
export function recoverRelease(
  revisions: readonly ReleaseRevision[],
  { release, isRecorded, isOurs, adopt }: ReleaseState,
): RecoveryPlan {
  const inOrder = [...revisions].sort((one, other) => one.revision - other.revision);
  const last = inOrder.at(-1);
  const refuse = (refusal: string): RecoveryPlan => ({ forget: [], steps: [], refusal });
  const forget = (left: ReleaseRevision[], how: { by: "others" | typeof CUT_OFF; takenOver?: true }) => ({
    forget: left.map(({ secret }) => secret),
    steps: left.map(({ revision, status }) =>
      releaseRecoverySteps.format({ kind: "forget", revision, status, release, ...how }),
    ),
  });
  if (!isRecorded) {
    if (last && !isOurs && !adopt)
      return refuse(
        `${release} is a Helm release already (revision ${last.revision}, ${last.status}), and not of this stack; ` +
          `choose another name, or take it over with adopt: true`,
      );
    return forget(inOrder, { by: isOurs ? CUT_OFF : "others", takenOver: true });
  }
  if (!last)
    return refuse(
      `${release} is in this stack's state, but Helm has no record of it; ` +
        `run pulumi refresh, then up installs it again over its objects`,
    );
  if (last.status === "uninstalling")
    return refuse(`an uninstallation of ${release} was cut off; finish it with pulumi destroy, then run up`);
  return forget(inOrder.filter(isPending), { by: CUT_OFF });
}
