import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ClusterSpecification } from "../../plan/specification";
import type { NodeAgentsStep } from "../../plan/steps";
import { namesOfStaged, type StagedVersions } from "./staged-versions";

/** Fields of a cluster's specification from which the installers and the agent's configuration are made. */
type StagingSettings = Pick<
  ClusterSpecification,
  "source" | "proxy" | "imageRepository" | "ignorePreflightErrors"
>;

/** Desired state of every machine's agent. Texts are not part of it: an edit of foresail alone changes no machine. */
export interface DesiredAgent {
  /** Version of the agent. */
  agent: string;
  /** Pattern of the annotation keys, which contains `[software]`. */
  annotations: string;
  staged: StagedVersions;
  specification: StagingSettings;
}

function settingsOf({ source, proxy, imageRepository, ignorePreflightErrors }: StagingSettings) {
  return { source, proxy, imageRepository, ignorePreflightErrors };
}

/**
 * Returns a short hash of the desired state: the same state always has the same hash, different states have different
 * ones.
 */
export function agentRevision({ agent, annotations, staged, specification }: DesiredAgent): string {
  const desired = [agent, annotations, staged.kubernetes, staged.software, settingsOf(specification)];
  return createHash("sha256").update(JSON.stringify(desired, sorted)).digest("hex").slice(0, 12);
}

/** Sorts the keys of objects, since the state returns objects with another key order. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Returns the steps that bring a machine from one desired state to another; all steps when it had none. */
export function agentChange(
  machine: string,
  olds: DesiredAgent | undefined,
  news: DesiredAgent,
): NodeAgentsStep[] {
  const desired = namesOfStaged(news.staged);
  const install: NodeAgentsStep = { kind: "install", machine, version: news.agent };
  const stages = (versions: string[], kind: "stage" | "restage" | "unstage") =>
    versions.map((version): NodeAgentsStep => ({ kind, machine, version }));
  if (!olds) return [install, ...stages(desired, "stage")];
  const present = namesOfStaged(olds.staged);
  const isSame = isDeepStrictEqual(settingsOf(olds.specification), settingsOf(news.specification));
  const { annotations } = news;
  return [
    ...(olds.agent === news.agent ? [] : [install]),
    ...(olds.annotations === annotations ? [] : [{ kind: "follow" as const, machine, annotations }]),
    ...desired
      .filter((name) => !isSame || !present.includes(name))
      .flatMap((name) => stages([name], present.includes(name) ? "restage" : "stage")),
    ...stages(
      present.filter((name) => !desired.includes(name)),
      "unstage",
    ),
  ];
}
