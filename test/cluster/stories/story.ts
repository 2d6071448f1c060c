import type { KillPoint } from "../killed-engine";
import type { Desired, TestCluster } from "../test-cluster";

/** What a person or a machine does, or what has to be true; it throws when that is not so. */
export type Action = (cluster: TestCluster) => Promise<unknown>;

/** A step of a preview. A field that it leaves out may have any value; one that is undefined must be absent. */
export interface ExpectedStep {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** One run of `up` with what comes before it. */
export interface StoryRun {
  /** What people did by hand before it, in order. */
  readonly byHand?: readonly Action[];
  /** Fields of the configuration that differ from the start; default: none. */
  readonly edit?: Partial<Desired>;
  /** The preview: all of its steps in any order, or the words with which it refuses, and `up`, too. */
  readonly preview: readonly ExpectedStep[] | RegExp;
  /** What the preview says without a step. */
  readonly remarks?: readonly RegExp[];
  /** What happens while `up` runs; it begins with it. */
  readonly during?: Action;
  /** The words with which `up` fails; default: it succeeds. */
  readonly fails?: RegExp;
  /** The remote step at whose beginning `up` and all that it started are killed. */
  readonly killedAt?: Pick<KillPoint, "machine" | "operation">;
  /** What is true at its end. */
  readonly then?: readonly Action[];
}

/** Ordinary days of a cluster. At their end it is as at the start, and a preview has no step. */
export interface Story {
  /** The title of its test. */
  readonly title: string;
  /** Whether it runs by day, too. */
  readonly byDay?: true;
  readonly runs: readonly StoryRun[];
  /** The words with which a story fails that is not right yet. */
  readonly wrong?: RegExp;
}

/** Stories that begin and end with the same machines. */
export interface StoryGroup {
  readonly about: string;
  readonly machines: readonly string[];
  readonly stories: readonly Story[];
}
