import { isKnown } from "../../../../lib/unknown";
import type { Machine, Role } from "../cluster/machine";
import {
  clusterWide,
  type MachineSpecification,
  memberOf,
  type PoolMember,
  poolsWithSettings,
  specificationOf,
} from "../cluster/pools";
import { type ClusterSpecification, controlPlaneEndpoint } from "../cluster/specification";
import { addedNames } from "./certificate-names";
import {
  type Baselined,
  byPool,
  completedVersion,
  configurationVersions,
  type ConfigurationVersions,
  hashOf,
  PARTS,
  settingsByPart,
  versionFor,
  versionWith,
} from "./configuration";
import { hostsFile, mirroredRegistries } from "./registries";

/** A cluster's configuration as it rolls out; absent in state until it changes for the first time. */
export interface RolledConfiguration extends Baselined {
  /** Paths of files that were configured before and are not any more. */
  removed: string[];
  /** Names of certificates that were configured before and are not any more; absent for none. */
  removedNames?: string[];
  /** Endpoints that nodes had before, host:port; absent for none. */
  formerEndpoints?: string[];
  /** Roles whose machines no change has concerned yet, apart from `changedPools`; absent for none. */
  unchanged?: Role[];
  /** Pools that a change has concerned, or that a machine came into with other settings; absent for none. */
  changedPools?: string[];
  /** Paths of files that only machines of some pools have or had; absent for none. */
  poolPaths?: string[];
}

/** The pool of a machine in the inputs of a resource, of which a preview may not know each field. */
type Placed = Pick<Machine, "name" | "group">;

interface Recorded {
  specification?: ClusterSpecification;
  configuration?: RolledConfiguration;
  machines?: readonly Placed[];
}

/**
 * Returns the configuration that a cluster rolls out; undefined as long as it is the one from before the first change.
 *
 * @param olds what the state has of the ClusterInit, which exists from the first member on: another resource may not be
 * in the state yet when the configuration changes after a first run that was interrupted
 */
export function rolledConfiguration(
  { specification: before, configuration: recorded, machines: placed = [] }: Recorded,
  news: ClusterSpecification,
  machines: readonly Placed[] = [],
): RolledConfiguration | undefined {
  if (before === undefined) return undefined;
  const baseline = baselineFor(recorded?.baseline ?? configurationVersions(before), before, news);
  const desired = configurationVersions(news, { baseline });
  const unchanged = unchangedRoles(recorded ? recorded.unchanged : ROLES, desired, baseline);
  const joined = poolsJoined(placed, machines, configurationVersions(before, { baseline }), desired);
  const pools = changedPools([...(recorded?.changedPools ?? []), ...joined], desired, baseline);
  if (!recorded && unchanged.unchanged?.length === ROLES.length && pools.length === 0) return undefined;
  const poolPaths = [
    ...new Set([...(recorded?.poolPaths ?? []), ...pathsOfPools(before), ...pathsOfPools(news)]),
  ].sort();
  const paths = pathsWritten(clusterWide(news));
  const removed = [...(recorded?.removed ?? []), ...pathsWritten(clusterWide(before))].filter(
    (path) => !paths.includes(path),
  );
  const names = addedNames(news);
  const removedNames = [...(recorded?.removedNames ?? []), ...addedNames(before)].filter(
    (name) => !names.includes(name),
  );
  const endpoint = controlPlaneEndpoint(news.endpoint);
  const former = [...(recorded?.formerEndpoints ?? []), controlPlaneEndpoint(before.endpoint)].filter(
    (each) => each !== endpoint,
  );
  return {
    baseline,
    removed: [...new Set(removed)].sort(),
    ...(removedNames.length > 0 ? { removedNames: [...new Set(removedNames)].sort() } : {}),
    ...(former.length > 0 ? { formerEndpoints: [...new Set(former)].sort() } : {}),
    ...unchanged,
    ...(pools.length > 0 ? { changedPools: pools } : {}),
    ...(poolPaths.length > 0 ? { poolPaths } : {}),
  };
}

/** Returns the pools that a change has concerned, with those of which it was known. */
export function changedPools(
  known: readonly string[],
  desired: ConfigurationVersions,
  baseline: ConfigurationVersions,
): string[] {
  const own = [...Object.keys(desired.pools ?? {}), ...Object.keys(baseline.pools ?? {})];
  const differing = own.filter(
    (group) => versionFor(desired, memberOf(group)) !== versionFor(baseline, memberOf(group)),
  );
  return [...new Set([...known, ...differing])].sort();
}

/** Returns the pools that machines come into from pools with another version. */
function poolsJoined(
  before: readonly Placed[],
  after: readonly Placed[],
  had: ConfigurationVersions,
  desired: ConfigurationVersions,
): string[] {
  const former = new Map(before.map(({ name, group }) => [name, group]));
  return after.flatMap(({ name, group }) => {
    const from = former.get(name);
    if (from === undefined || from === group) return [];
    return versionFor(had, memberOf(from)) === versionFor(desired, memberOf(group)) ? [] : [group];
  });
}

function pathsOfPools(specification: ClusterSpecification): string[] {
  const ofCluster = pathsWritten(clusterWide(specification));
  return poolsWithSettings(specification)
    .flatMap((group) => pathsWritten(specificationOf(specification, memberOf(group))))
    .filter((path) => !ofCluster.includes(path));
}

/** Paths that machines may have from settings of before, and the pools whose machines may have those of pools. */
interface FormerPaths {
  readonly removed: readonly string[];
  readonly poolPaths?: readonly string[];
  readonly changedPools?: readonly string[];
}

/**
 * Returns the paths of files that a machine does not have any more, or that it brought from another pool. At the path of a file of
 * another pool, a machine that was in none of the changed pools has a file of its own, if any.
 *
 * @param group its pool
 */
export function pathsToRemove(
  { removed, poolPaths = [], changedPools = [] }: FormerPaths,
  specification: MachineSpecification,
  group: string,
): string[] {
  const own = pathsWritten(specification);
  const former = changedPools.includes(group) ? [...removed, ...poolPaths] : removed;
  return [...new Set(former)].filter((path) => !own.includes(path));
}

const ROLES: readonly Role[] = ["control-plane", "worker"];

/** Returns those of the roles that no change had concerned which none concerns now; without the field for none. */
export function unchangedRoles(
  before: readonly Role[] | undefined,
  desired: ConfigurationVersions,
  baseline: ConfigurationVersions,
): Pick<RolledConfiguration, "unchanged"> {
  const unchanged = (before ?? []).filter((role) => desired[role] === baseline[role]);
  return unchanged.length > 0 ? { unchanged } : {};
}

/** Returns a baseline with every part in which two specifications differ, and those before it. */
function baselineFor(
  baseline: ConfigurationVersions,
  before: ClusterSpecification,
  news: ClusterSpecification,
): ConfigurationVersions {
  const completed = (member: PoolMember) => {
    const { role } = member;
    const [olds, own] = [specificationOf(before, member), specificationOf(news, member)];
    const [had, desired] = [settingsByPart(olds, role), settingsByPart(own, role)];
    const changed = PARTS[role].filter((part) => hashOf(had[part]) !== hashOf(desired[part]));
    const parts = PARTS[role].slice(0, PARTS[role].indexOf(changed.at(-1) ?? "machine") + 1);
    return completedVersion(versionFor(baseline, member), versionWith(olds, role, parts));
  };
  // those of no pool
  const ofRole = (role: Role) => completed({ role, group: "" });
  return {
    worker: ofRole("worker"),
    "control-plane": ofRole("control-plane"),
    ...byPool(Object.keys(baseline.pools ?? {}), (group) => completed(memberOf(group))),
  };
}

/**
 * Returns a resource's inputs with the configuration from the ClusterInit, or without the field. A preview knows none as
 * long as the state has none.
 *
 * @param olds what the state has of the resource itself: for a short time each resource recorded its own
 */
export function withGivenConfiguration<Inputs extends Pick<Recorded, "configuration">>(
  olds: Pick<Recorded, "configuration">,
  { configuration: given, ...news }: Inputs,
): Omit<Inputs, "configuration"> & Pick<Recorded, "configuration"> {
  const configuration = given !== undefined && isKnown(given) ? given : olds.configuration;
  return configuration === undefined ? news : { ...news, configuration };
}

/** Returns the paths of the files that a machine gets from the settings, which are removed with them. */
export function pathsWritten({
  files,
  ...registries
}: Pick<ClusterSpecification, "files" | "registryMirrors" | "registryServers">): string[] {
  return [...(files ?? []).map(({ path }) => path), ...mirroredRegistries(registries).map(hostsFile)];
}

/** Returns the paths of the files that machines of any pool get from the settings. */
export const allPathsWritten = (specification: ClusterSpecification): string[] => [
  ...pathsWritten(clusterWide(specification)),
  ...pathsOfPools(specification),
];
