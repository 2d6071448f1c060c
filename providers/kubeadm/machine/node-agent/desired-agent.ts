import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ClusterSpecification } from "../../plan/specification";
import { namesOfStaged, type StagedVersions } from "./staged-versions";

/** What of a cluster's specification the installers and the agent's configuration are made from. */
type StagingSettings = Pick<
  ClusterSpecification,
  "source" | "proxy" | "imageRepository" | "ignorePreflightErrors"
>;

/** What every machine's agent is to be. Texts are not part of it: an edit of foresail alone changes no machine. */
export interface DesiredAgent {
  /** Version of the agent. */
  agent: string;
  /** Annotation keys, with `[software]` in it. */
  annotations: string;
  staged: StagedVersions;
  specification: StagingSettings;
}

function settingsOf({ source, proxy, imageRepository, ignorePreflightErrors }: StagingSettings) {
  return { source, proxy, imageRepository, ignorePreflightErrors };
}

/** A short name for a wish: the same wish always has the same, another one another. */
export function agentRevision({ agent, annotations, staged, specification }: DesiredAgent): string {
  const desired = [agent, annotations, staged.kubernetes, staged.software, settingsOf(specification)];
  return createHash("sha256").update(JSON.stringify(desired, sorted)).digest("hex").slice(0, 12);
}

/** State gives objects back with their keys in another order. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** What a machine needs to come from one wish to another, as steps for people; all of it when it had none. */
export function describeAgentChange(
  machine: string,
  olds: DesiredAgent | undefined,
  news: DesiredAgent,
): string[] {
  const desired = namesOfStaged(news.staged);
  const install = `${machine}: install node agent ${news.agent}`;
  if (!olds) return [install, ...desired.map((name) => `${machine}: stage ${name}`)];
  const present = namesOfStaged(olds.staged);
  const isSame = isDeepStrictEqual(settingsOf(olds.specification), settingsOf(news.specification));
  return [
    ...(olds.agent === news.agent ? [] : [install]),
    ...(olds.annotations === news.annotations ? [] : [`${machine}: obey ${news.annotations}`]),
    ...desired
      .filter((name) => !isSame || !present.includes(name))
      .map((name) => `${machine}: stage ${name}${present.includes(name) ? " anew" : ""}`),
    ...present.filter((name) => !desired.includes(name)).map((name) => `${machine}: no longer stage ${name}`),
  ];
}
