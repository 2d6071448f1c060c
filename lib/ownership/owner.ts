import { printable, quoted } from "../text/quote";

/** The stack that owns an object. The identity decides; the name is what the stack was called when it was recorded. */
export interface Owner {
  /** UUID that was made once for the stack, and stays in its state. */
  readonly id: string;
  /** "organization/project/stack" */
  readonly stack: string;
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const STACK = /^[A-Za-z0-9_.-]{1,100}(?:\/[A-Za-z0-9_.-]{1,100}){0,2}$/;

/** The value of `takeOver` for objects whose mark an earlier release wrote, without the stack's identity. */
export const UNMARKED = "unmarked";

/** Returns whether a text is the identity of a stack. */
export const isStackId = (text: unknown): text is string => typeof text === "string" && ID.test(text);

/** Returns why a text can't be a value of `takeOver`, or undefined. */
export const takeOverIssue = (text: string): string | undefined =>
  isStackId(text) || text === UNMARKED
    ? undefined
    : `${quoted(text)} is not the identity of a stack; write the one that the refusal names, such as 2f1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42`;

/** Returns an owner from fields of a record, or undefined when they are not those of one. */
export function parseOwner({ id, stack }: Readonly<Record<string, unknown>>): Owner | undefined {
  if (!isStackId(id) || typeof stack !== "string" || !STACK.test(stack)) return undefined;
  return { id, stack };
}

/** Formats an owner for messages: "organization/foresail/prod (2f1c…)". */
export const describeOwner = ({ id, stack }: Owner): string => `${printable(stack)} (${printable(id)})`;

/** This stack. Its identity is undefined until it is made: then nothing that exists belongs to it. */
export interface Self {
  readonly id?: string | undefined;
  readonly stack: string;
  /** The former owner, from which this stack takes over. */
  readonly takeOver?: string | undefined;
}

/** Whose an object is that exists. */
export type Ownership =
  | { readonly is: "own" }
  /** This stack's, under an earlier name of the stack. */
  | { readonly is: "renamed"; readonly from: string }
  /** Nothing says who owns it. */
  | { readonly is: "unmarked" }
  /** Another stack's, from which this one may take over. */
  | { readonly is: "takeOver"; readonly from: Owner }
  | { readonly is: "foreign"; readonly owner: Owner };

/** Returns whose an object is. @param found the owner in its mark; undefined for an object without one */
export function decideOwnership(found: Owner | undefined, self: Self): Ownership {
  if (found === undefined) return { is: "unmarked" };
  if (found.id === self.id)
    return found.stack === self.stack ? { is: "own" } : { is: "renamed", from: found.stack };
  return found.id === self.takeOver ? { is: "takeOver", from: found } : { is: "foreign", owner: found };
}

/** What a refusal says about another owner: "belongs to <owner>", and what to do, as the end of a sentence. */
export interface ForeignText {
  readonly owner: string;
  readonly next: string;
}

/** Describes another stack for a refusal. @param field path of `takeOver` in the configuration; undefined where there is none */
export function describeForeign(owner: Owner, self: Pick<Self, "stack">, field?: string): ForeignText {
  const taken = field === undefined ? "" : `write ${field}: ${printable(owner.id)}`;
  return owner.stack === self.stack
    ? {
        owner: `a stack of the same name with another identity, ${describeOwner(owner)}: the state of this stack was lost, or is in another backend`,
        next: `use that state${taken && `, or, if it is lost, ${taken}`}`,
      }
    : {
        owner: `the stack ${describeOwner(owner)}`,
        next: `destroy or release it there${taken && `, or, to take it over from that stack, ${taken}`}`,
      };
}

/**
 * Returns the sentence that refuses an object of another stack, and what to do.
 *
 * @param what the object, as the subject: "the cluster", "cp-1"
 * @param field path of `takeOver` in the configuration; undefined where there is none
 */
export function foreignOwner(what: string, found: Owner, self: Self, field?: string): string {
  const { owner, next } = describeForeign(found, self, field);
  return `${what} belongs to ${owner}; nothing of it was changed. ${next.charAt(0).toUpperCase()}${next.slice(1)}`;
}
