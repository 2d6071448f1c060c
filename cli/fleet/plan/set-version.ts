import { parseVersion } from "../../../providers/kubeadm/plan/rollout/versions";

/** What the files of a stack say about its Kubernetes version. */
export interface VersionSource {
  readonly stack: string;
  /** The merged `system`; undefined for the default. */
  readonly system: unknown;
  /** The layer that its file names. */
  readonly layer?: string | undefined;
  /** The version in the stack's own file, whatever it is. */
  readonly own: unknown;
  /** The version in its layer, whatever it is. */
  readonly below: unknown;
}

/** A version to write into a file: of a layer, or else of a stack. */
export interface VersionEdit {
  readonly layer?: string;
  readonly stack?: string;
  readonly from: unknown;
  /** The stacks whose version it is. */
  readonly stacks: readonly string[];
}

/** The part of the configuration that has the version, by system. */
export const versionKey = (system: unknown): "cluster" | "machinePool" =>
  system === "machine-pool" ? "machinePool" : "cluster";

/** Returns why a text is not a version to set. */
export const targetIssue = (version: string): string | undefined =>
  parseVersion(version) === undefined ? `"${version}" is not MAJOR.MINOR.PATCH, such as 1.36.4` : undefined;

/**
 * Returns where a version has to be written so that the chosen stacks have it and no other stack gets it: where it is written
 * now, except that a layer below other stacks stays, and a chosen stack above it gets a version of its own.
 *
 * @param all the stacks of the project
 */
export function planVersion(
  all: readonly VersionSource[],
  chosen: ReadonlySet<string>,
): { edits: readonly VersionEdit[]; issues: readonly string[] } {
  const edits: VersionEdit[] = [];
  const issues: string[] = [];
  for (const source of all) {
    const { stack, system, layer, own, below } = source;
    if (!chosen.has(stack)) continue;
    const issue = sourceIssue(source);
    if (system === "collector") continue;
    if (issue !== undefined) issues.push(`${stack}: ${issue}`);
    else if (own === undefined && below !== undefined && layer !== undefined) {
      const users = all.filter((one) => one.layer === layer && one.own === undefined).map((one) => one.stack);
      if (!users.every((user) => chosen.has(user))) edits.push({ stack, from: below, stacks: [stack] });
      else if (!edits.some((edit) => edit.layer === layer)) edits.push({ layer, from: below, stacks: users });
    } else edits.push({ stack, from: own, stacks: [stack] });
  }
  return { edits, issues };
}

/** Returns why the version of a stack can't be set. */
function sourceIssue({ system, own, below }: VersionSource): string | undefined {
  if (system === "azimuth")
    return "Azimuth's template has its Kubernetes version; set azimuth.templateName in its file or layer";
  const now = own ?? below;
  if (now === undefined) return "neither its file nor its layer has a Kubernetes version; write one there";
  if (typeof now === "string" && now.includes("${"))
    return `its version is an output of another stack, ${now}; change it there`;
  return undefined;
}
