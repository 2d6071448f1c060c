import type { ResourceKind, Tumblebug } from "../client";
import type { Generation } from "../plan/model";
import type { Reason } from "../plan/reasons";
import type { TumblebugObjectStep } from "../plan/steps";
import type { ServerInputs } from "./server";

/** Inputs of every object that VMs are created from. */
export interface ObjectInputs {
  server: ServerInputs;
  namespace: string;
  /** Name of the object, the same in every run. */
  name: string;
  connection: string;
  /** Owner tag in the descriptions of this stack's objects. */
  mark: string;
  /** Whether to keep the object when the resource is deleted. */
  keepOnDelete: boolean;
  /** Whether the object existed before, created by others. */
  foreign: boolean;
  /** Set by check. */
  steps?: string[];
}

/** Recorded outputs of every object. */
export interface ObjectOutputs extends ObjectInputs {
  /** Name by which other objects refer to it; the server may choose another name than the requested one. */
  object: string;
  /** Whether this stack created the object and so may delete it. */
  made: boolean;
}

interface Found {
  readonly name: string;
  readonly connection: string;
  readonly description: string;
}

/** Specifics of one kind of object. */
export interface ObjectKind<
  Inputs extends ObjectInputs,
  Wish extends { readonly name: string },
  Object extends Found,
> {
  /** Name of the kind in messages: "vNet". */
  what: Extract<TumblebugObjectStep, { kind: "create" }>["what"];
  /** CB-Ladybug's reason code if the creation fails. */
  reason: Reason;
  /** Returns the client's calls; undefined if the server's generation does not register this kind. */
  of(tumblebug: Tumblebug): ResourceKind<Wish, Object> | undefined;
  /** The generation that does not register this kind, the object that is used there instead, and its name in previews. */
  unregistered?: { generation: Generation; object(inputs: Inputs): Object; image(inputs: Inputs): string };
  wish(inputs: Inputs, description: string): Wish;
  /** Returns the properties of the object for the preview's line. */
  describe(inputs: Inputs): string;
  /** Returns outputs that are only known from the created object. */
  outputs(found: Object): object;
  /** Returns the drift that a refresh records, for an object that this stack created. */
  drift?(outputs: Inputs, found: Object): object;
  /** Returns whether a refresh recorded drift. */
  hasDrifted?(outputs: Inputs): boolean;
  /** Returns why an existing object of other owners can't be used; undefined if it can. */
  mismatch?(inputs: Inputs, found: Object): string | undefined;
  /** Inputs besides the name that can't change while the object exists. */
  fixed: readonly (keyof Inputs & string)[];
  /** Completes the inputs with values that were chosen at creation. */
  settle?(olds: Partial<Inputs>, news: Inputs): Inputs;
  /** Returns the changes of an object that this stack created. */
  changes?(olds: Inputs, news: Inputs): TumblebugObjectStep[];
  /** Applies the changes. */
  change?(tumblebug: Tumblebug, inputs: Inputs, before: Inputs, found: Object): Promise<void>;
}
