import type { ResourceKind, Tumblebug } from "../client";
import type { Generation } from "../plan/model";
import type { Reason } from "../plan/reasons";
import type { ServerInputs } from "./server";

/** What every object that VMs are made from is asked for with. */
export interface ObjectInputs {
  server: ServerInputs;
  namespace: string;
  /** Name of the object, the same in every run. */
  name: string;
  connection: string;
  /** What this stack's objects carry in their descriptions. */
  mark: string;
  /** Leave it when the stack goes, or when it is no longer wanted. */
  keepOnDelete: boolean;
  /** Whether it was there, made by others, before this stack asked for it. */
  foreign: boolean;
  /** Made by check. */
  steps?: string[];
}

/** What state keeps of every object. */
export interface ObjectOutputs extends ObjectInputs {
  /** By which others refer to it; the server may call it something else than it was asked for. */
  object: string;
  /** Whether this stack made it: then it may delete it. */
  made: boolean;
}

interface Found {
  readonly name: string;
  readonly connection: string;
  readonly description: string;
}

/** How one kind of object differs from the others. */
export interface ObjectKind<
  Inputs extends ObjectInputs,
  Wish extends { readonly name: string },
  Object extends Found,
> {
  /** As people call it: "vNet". */
  what: string;
  /** CB-Ladybug's reason when it can't be made. */
  reason: Reason;
  /** Undefined where the server's generation registers none. */
  of(tumblebug: Tumblebug): ResourceKind<Wish, Object> | undefined;
  /** The generation that registers none, what is used there instead, and the preview's line for it. */
  unregistered?: { generation: Generation; object(inputs: Inputs): Object; step(inputs: Inputs): string };
  wish(inputs: Inputs, description: string): Wish;
  /** What makes it what it is, for the preview's line. */
  describe(inputs: Inputs): string;
  /** What the handlers alone know. */
  outputs(found: Object): object;
  /** What a refresh records besides, of an object that this stack made and others changed. */
  drift?(outputs: Inputs, found: Object): object;
  /** Whether a refresh recorded a difference. */
  hasDrifted?(outputs: Inputs): boolean;
  /** Why an object of that name that others made can't be used; undefined when it can. */
  mismatch?(inputs: Inputs, found: Object): string | undefined;
  /** What can't change while it is there, beside its name. */
  fixed: readonly (keyof Inputs & string)[];
  /** Completes what the program asks for with what was chosen when it was made. */
  settle?(olds: Partial<Inputs>, news: Inputs): Inputs;
  /** What a changed wish does to an object that this stack made, a line each. */
  changes?(olds: Inputs, news: Inputs): string[];
  /** Carries out what `changes` said. */
  change?(tumblebug: Tumblebug, inputs: Inputs, before: Inputs, found: Object): Promise<void>;
}
