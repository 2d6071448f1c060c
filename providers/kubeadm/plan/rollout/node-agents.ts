import {
  VERSION_PLACEHOLDER,
  type SoftwareSource,
  type ClusterSpecification,
} from "../cluster/specification";
import { configurationVersions, hasFurtherParts, versionFor } from "../configuration/configuration";
import type { ConfigurationVersions } from "../configuration/configuration";
import type { RolledConfiguration } from "../configuration/rolled-configuration";
import type { DriftSetting } from "../drift/drift";
import type { Machine, Role } from "../cluster/machine";
import type { PoolMember } from "../cluster/pools";
import { hashableProxy } from "../configuration/proxy";
import { CONFIGURATION } from "./annotations";
import { stableHash } from "../../../../lib/short-hash";
import { isDeepStrictEqual } from "node:util";
import type { NodeAgentsStep } from "../steps";

/** Versions that a node can be brought to. */
export interface StagedVersions {
  /** Kubernetes versions, MAJOR.MINOR.PATCH, the desired one first. */
  kubernetes: string[];
  /** Versions of containerd and os-packages, by software. */
  software: Record<string, string>;
  /** Set by check: the configuration, once it has changed for the first time. */
  configuration?: StagedConfiguration;
}

/** The configuration that a node can be brought to. */
interface StagedConfiguration {
  versions: ConfigurationVersions;
  /** Paths of files that it removes. */
  removed: readonly string[];
  /** Names that it removes from certificates; absent for none. */
  removedNames?: readonly string[];
  /** Endpoints of the API servers that nodes may still have; absent for none. */
  formerEndpoints?: readonly string[];
  /** What a control plane without a version, or without all parts of it, has; absent until a further part has changed. */
  baseline?: string;
  /** Roles whose machines no change has concerned yet, apart from `changedPools`: they get none. Absent for none. */
  unchanged?: readonly Role[];
  /** Pools that a change has concerned; absent for none. */
  changedPools?: readonly string[];
  /** Paths of files that only machines of some pools have or had; absent for none. */
  poolPaths?: readonly string[];
}

/** Returns every version that a rollout to the desired versions may pass through, each once. */
export function stagedVersions(
  version: string,
  intermediates: readonly string[],
  software: Record<string, string>,
): StagedVersions {
  return { kubernetes: [...new Set([version, ...intermediates])], software };
}

/** Returns what is staged with the configuration, once that has changed for the first time. */
export function withConfiguration(
  staged: StagedVersions,
  rolled: RolledConfiguration | undefined,
  specification: ClusterSpecification,
): StagedVersions {
  if (rolled === undefined) return staged;
  return {
    ...staged,
    configuration: {
      versions: configurationVersions(specification, rolled),
      removed: rolled.removed,
      ...(rolled.removedNames === undefined ? {} : { removedNames: rolled.removedNames }),
      ...(rolled.formerEndpoints === undefined ? {} : { formerEndpoints: rolled.formerEndpoints }),
      ...(hasFurtherParts(rolled) ? { baseline: rolled.baseline["control-plane"] } : {}),
      ...(rolled.unchanged === undefined ? {} : { unchanged: rolled.unchanged }),
      ...(rolled.changedPools === undefined ? {} : { changedPools: rolled.changedPools }),
      ...(rolled.poolPaths === undefined ? {} : { poolPaths: rolled.poolPaths }),
    },
  };
}

/** Returns what is staged on a machine. */
export function stagedOn(
  { role, group }: PoolMember,
  { configuration, ...staged }: StagedVersions,
): StagedVersions {
  const isUnchanged =
    configuration?.unchanged?.includes(role) && !configuration.changedPools?.includes(group);
  return configuration === undefined || isUnchanged ? staged : { ...staged, configuration };
}

/** Returns the names of everything that is staged: a version of Kubernetes alone, other software with its name. */
function namesOfStaged(staged: StagedVersions, member: PoolMember): string[] {
  const { kubernetes, software, configuration } = stagedOn(member, staged);
  const own = configuration ? { [CONFIGURATION]: versionFor(configuration.versions, member) } : {};
  const others = Object.entries({ ...software, ...own });
  return [...kubernetes, ...others.map(([name, version]) => `${name} ${version}`)];
}

/** Returns why a source can't provide all these versions, or undefined. */
export function refuseStaging(source: SoftwareSource, { kubernetes }: StagedVersions): string | undefined {
  const [desired = "", ...others] = kubernetes;
  if ("packages" in source || others.length === 0) return undefined;
  if ("url" in source.bundle)
    return `the bundle at ${source.bundle.url} has the checksum of one version, ${desired}, so ${others.join(", ")} can't be on the way to it; take a bundle folder with ${VERSION_PLACEHOLDER} in its path, or go to ${others.join(", ")} first`;
  if (!source.bundle.path.includes(VERSION_PLACEHOLDER))
    return `the bundle folder ${source.bundle.path} is the same for every version, so it can't hold ${kubernetes.join(" and ")}; write ${VERSION_PLACEHOLDER} into the path`;
  return undefined;
}

/** Fields of a cluster's specification from which the installers and the agent's configuration are made. */
const settingsOf = ({ source, proxy, imageRepository, ignorePreflightErrors }: StagingSettings) => {
  return { source, proxy: hashableProxy(proxy), imageRepository, ignorePreflightErrors };
};
type StagingSettings = Pick<
  ClusterSpecification,
  "source" | "proxy" | "imageRepository" | "ignorePreflightErrors"
>;

/** Settings of a cluster's agents. */
export interface AgentSettings {
  /** Pattern of the annotation keys, which contains `[software]`. */
  annotations: string;
  /** Versions that the agents can choose from. */
  staged: StagedVersions;
  /** What foresail does about files that others change; absent for a report by agents that can. */
  drift?: DriftSetting;
}

/** Desired state of every machine's agent. Texts are not part of it: an edit of foresail alone changes no machine. */
export interface DesiredAgent extends AgentSettings {
  /** Version of the agent. */
  agent: string;
  specification: StagingSettings;
}

/** What the state has of a machine's agent. */
type RecordedAgent = DesiredAgent & {
  /** The pool that the machine had; absent where it is the same. */
  member?: PoolMember;
};

/** Returns a short hash of the desired state of a machine's agent. The same state always has the same hash. */
export function agentRevision(member: PoolMember, desired: DesiredAgent): string {
  const { configuration } = stagedOn(member, desired.staged);
  if (configuration === undefined) return revisionWith(desired, undefined);
  const { versions, removed, formerEndpoints = [], removedNames = [], baseline = "" } = configuration;
  const ofControlPlanes = member.role === "control-plane" ? { removedNames, baseline } : {};
  const version = versionFor(versions, member);
  return revisionWith(desired, { version, removed, formerEndpoints, ...ofControlPlanes });
}

/** Returns the hash with which earlier releases installed agents: a change for one role changed it for both. */
function formerRevision(desired: DesiredAgent): string {
  const { unchanged: _, ...configuration } = desired.staged.configuration ?? {};
  return revisionWith(desired, desired.staged.configuration && configuration);
}

function revisionWith(
  { agent, annotations, staged, specification, drift }: DesiredAgent,
  configuration: object | undefined,
): string {
  const { kubernetes, software } = staged;
  const desired = [agent, annotations, kubernetes, software, settingsOf(specification)];
  // absent until the first change, so that a new release alone keeps the hash
  const all = configuration === undefined ? desired : [...desired, configuration];
  return stableHash(drift === "repair" ? [...all, drift] : all, 12);
}

type NamedMachine = Pick<Machine, "name" | "role" | "group">;

/** Returns the steps that bring a machine from one desired state to another; all steps when it had none. */
function agentChange(
  member: NamedMachine,
  olds: RecordedAgent | undefined,
  news: DesiredAgent,
): NodeAgentsStep[] {
  const { name: machine } = member;
  const desired = namesOfStaged(news.staged, member);
  const present = olds ? namesOfStaged(olds.staged, { ...member, ...olds.member }) : [];
  const isSame = olds && isDeepStrictEqual(settingsOf(olds.specification), settingsOf(news.specification));
  const { agent, annotations } = news;
  const steps: NodeAgentsStep[] = [];
  if (olds?.agent !== agent) steps.push({ kind: "install", machine, version: agent });
  if (olds && olds.annotations !== annotations) steps.push({ kind: "follow", machine, annotations });
  const how = news.drift === "repair" ? "repair" : "report";
  if (olds && (olds.drift === "repair") !== (how === "repair")) steps.push({ kind: "drift", machine, how });
  for (const version of desired) {
    const isPresent = present.includes(version);
    if (!isSame || !isPresent) steps.push({ kind: isPresent ? "restage" : "stage", machine, version });
  }
  for (const version of present)
    if (!desired.includes(version)) steps.push({ kind: "unstage", machine, version });
  return steps;
}

/** Status that a machine's agent has reported on its Node. */
export interface ReportedAgent {
  /** Whether an agent has reported at all. */
  hasReported: boolean;
  /** Revision that the agent was installed with; absent from agents before 1.1.0. */
  revision?: string;
  /** Why its machine counts as out of reach, if it does. */
  outOfReach?: string;
}

/**
 * Returns what is left to do on one machine. The state alone does not show it, since a run that failed on some machines
 * leaves the same state as one that did not: the agent's own report takes precedence.
 *
 * @param recorded the desired agent in the state for this very machine, if any
 * @param reported what its Node reports; undefined when it has none or the cluster could not be read
 * @returns empty when nothing is left
 */
export function leftToInstall(
  machine: NamedMachine,
  desired: DesiredAgent,
  recorded: RecordedAgent | undefined,
  reported: ReportedAgent | undefined,
): NodeAgentsStep[] {
  const revisions = [agentRevision(machine, desired), formerRevision(desired)];
  if (recorded !== undefined && revisions.includes(reported?.revision ?? "")) return [];
  const byRecord = agentChange(machine, recorded, desired);
  if (byRecord.length > 0 || reported === undefined) return byRecord;
  const wasLeftOut = reported.revision !== undefined || !reported.hasReported;
  return wasLeftOut ? agentChange(machine, undefined, desired) : [];
}
