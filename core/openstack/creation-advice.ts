/** An object of the cloud that could not be made. */
export interface FailedCreation {
  /** Its type as the engine has it: "openstack:compute/instance:Instance". */
  type: string;
  /** Its name in the state. */
  name: string;
  /** What the provider says, newest first. */
  errors: readonly string[];
  /** Why the server is in state ERROR, in the cloud's words. */
  fault?: string;
}

const INSTANCE = "openstack:compute/instance:Instance";
const AGAIN = "then run the same again: what was made is kept";

/** Whether the cloud has to be asked why a server could not be made: its provider only says that it is in state ERROR. */
export function needsFault({ type, errors }: Pick<FailedCreation, "type" | "errors">): boolean {
  return type === INSTANCE && errors.some((words) => /\bERROR\b/.test(words));
}

/** Why an object could not be made and what to do, as one sentence more than the provider says; undefined: it says it all. */
export function creationAdvice(failed: FailedCreation): string | undefined {
  const { name, errors, fault } = failed;
  const words = errors.join("\n");
  if (fault !== undefined) {
    const todo = /no valid host/i.test(fault)
      ? "no host of the cloud has room for such a server: take another flavour, image or zone, or ask the cloud's operator for room"
      : isQuota(fault)
        ? "ask for more of the quota, or take fewer or smaller machines"
        : "take another flavour, image or zone";
    return `${name} could not be made: ${sentence(fault)} What to do: ${todo}, ${AGAIN}`;
  }
  if (!isQuota(words)) return undefined;
  const told = /quota exceeded[^"\n]*/i.exec(words)?.[0] ?? "";
  return `${name} could not be made: the project's quota is used up (${told.replace(/[.\s]*$/, "")}). What to do: ask for more of it, or free some, ${AGAIN}`;
}

/** As Nova (403 "Quota exceeded for …") and Neutron (409 OverQuota "Quota exceeded for resources: …") word it. */
function isQuota(words: string): boolean {
  return /quota exceeded|OverQuota/i.test(words);
}

const sentence = (words: string): string => words.replace(/\.?\s*$/, ".");
