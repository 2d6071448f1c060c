import type { Fleet } from "../plan/fleet";
import type { GatePart, PassedParts } from "../plan/gate";
import type { StackReview } from "../plan/review";
import type { Regions } from "../plan/temporal";
import type { Statement } from "../plan/trust";
import type { Progress, StackState } from "../plan/waves";
import type { FleetEnd } from "../run/waves-runner";

/**
 * What the workflow, the workers and the command say to each other. All of it is kept in the history of the workflow, so
 * that nothing here may be secret: a plan's secrets are encrypted with the key of its stack.
 */

/** A plan of `foresail preview --save-plan`, compressed; see packed.ts. */
export type Packed = string;

/** Which run this is, sealed by the command that began it; see seals.ts. */
export interface RunIdentity {
  readonly startedAt: string;
  /** Identifies the waves and the plans. */
  readonly review: string;
  readonly seal: string;
}

/** A plan that was reviewed for one stack in one run. */
export interface SealedPlan {
  readonly plan: Packed;
  readonly seal: string;
}

/** What a worker or a person has said of a run. The workflow only passes it on: each worker checks it. */
export interface SealedStatement {
  readonly statement: Statement;
  readonly seal: string;
}

/** What the workflow of a run begins with; its plans follow as signals, one per stack, since one message is limited. */
export interface RunInput {
  /** The name of the fleet on the server. */
  readonly id: string;
  readonly startedAt: string;
  /** Identifies the waves and the plans. */
  readonly review: string;
  /** The folder of the plans, where the command ran. */
  readonly plans: string;
  readonly fleet: Fleet;
  readonly regions: Regions;
  readonly from: Progress;
  readonly gateParts: PassedParts;
  readonly approved: readonly string[];
  readonly seal: string;
  /** What was said of the run before. */
  readonly said: readonly SealedStatement[];
}

/** How far a run is. */
export interface RunState extends Progress {
  readonly startedAt: string;
  readonly review: string;
  readonly plans: string;
  readonly seal: string;
  readonly said: readonly SealedStatement[];
  readonly gateParts: PassedParts;
  /** How long stacks took that are done. */
  readonly seconds: Readonly<Record<string, number>>;
  /** Stacks whose plans have not come yet. */
  readonly missing: readonly string[];
  readonly isPaused: boolean;
  /** The wave whose gate waits for a person. */
  readonly waitsFor?: string;
  /** What happened, after as many lines as were asked for. */
  readonly lines: readonly string[];
}

export interface RunResult {
  readonly end: FleetEnd;
  readonly state: RunState;
}

/** Names on the server. They never change: a run may be older than the worker that goes on with it. */
export const RUN_WORKFLOW = "fleetRun";
export const PREVIEW_WORKFLOW = "stackPreview";
export const STATE_QUERY = "state";
export const SIGNALS = { plan: "plan", approve: "approve", pause: "pause", resume: "resume" } as const;

/** What the workflow of a preview begins with. */
export interface PreviewInput {
  readonly id: string;
  readonly region: string;
  readonly stack: string;
  /** What the outcome has to be sealed with, so that it is not an older one. */
  readonly nonce: string;
}

export interface PreviewOutcome {
  readonly review: StackReview;
  /** Absent when the preview failed. */
  readonly plan?: Packed;
  readonly seal: string;
}

export interface StackOutcome {
  readonly state: Exclude<StackState, "running">;
  /** Why it is not done. */
  readonly words: readonly string[];
  readonly said?: SealedStatement;
}

export interface PartOutcome {
  /** Why the part has failed. */
  readonly why?: string;
  readonly said?: SealedStatement;
}

/** What a worker of an earlier release returned: why the part has failed. */
type EarlierPartOutcome = string | undefined;

/** What the workers of a region do. */
export interface FleetActivities {
  preview(input: Pick<PreviewInput, "stack" | "nonce">): Promise<PreviewOutcome>;
  up(input: {
    readonly run: RunIdentity;
    readonly stack: string;
    readonly plan: SealedPlan | undefined;
    readonly said: readonly SealedStatement[];
  }): Promise<StackOutcome>;
  gate(input: {
    readonly run: RunIdentity;
    readonly wave: string;
    readonly part: Exclude<GatePart, "soak">;
    readonly said: readonly SealedStatement[];
  }): Promise<PartOutcome | EarlierPartOutcome>;
}
