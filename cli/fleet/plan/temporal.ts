import type { ValidationIssue } from "../../../lib/validation/validation-issue";
import { type Fleet, stacksOf } from "./fleet";
import type { LabelsOfStacks } from "./selection";

/** The label of a stack that says in which region its workers are. */
const REGION_LABEL = "region";

/** The region of each stack. */
export type Regions = Readonly<Record<string, string>>;

/** Returns the region of each stack of a fleet by its labels, with an issue for each stack without one. */
export function regionsOf(
  fleet: Pick<Fleet, "waves">,
  labels: LabelsOfStacks,
): { regions: Regions; issues: readonly ValidationIssue[] } {
  const regions: Record<string, string> = {};
  const issues: ValidationIssue[] = [];
  for (const stack of stacksOf(fleet)) {
    const region = labels[stack]?.[REGION_LABEL];
    if (region !== undefined) regions[stack] = region;
    else
      issues.push({
        path: [stack],
        message: `has no label ${REGION_LABEL}, by which its workers are found; set foresail:labels: {${REGION_LABEL}: …} in its stack file or layer`,
      });
  }
  return { regions, issues };
}

/** Returns the name of a fleet on a Temporal server: that of its workflow, and the beginning of its task queues. */
export const fleetId = (project: string, fleet: Pick<Fleet, "name">): string =>
  `foresail/${project}/${fleet.name ?? project}`;

/** Returns the task queue of the workers of a region. */
export const queueOf = (fleet: string, region: string): string => `${fleet}/${region}`;

/** The failure of an attempt whose stack has the lock of another process; the next one comes within a minute. */
export const LOCKED_FAILURE = "Locked";

/** What a server tells of work that it has given to workers and that has not ended. */
interface PendingWork {
  readonly lastFailure?: {
    readonly message?: string | null;
    readonly applicationFailureInfo?: { readonly type?: string | null } | null;
  } | null;
}

/** Returns what stacks say that wait for the lock of another process. */
export const lockWaits = (pending: readonly PendingWork[] | null | undefined): string[] =>
  (pending ?? []).flatMap(({ lastFailure }) =>
    lastFailure?.applicationFailureInfo?.type === LOCKED_FAILURE ? [lastFailure.message ?? ""] : [],
  );
