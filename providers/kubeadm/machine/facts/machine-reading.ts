import { createHash } from "node:crypto";
import { ownValue } from "../../../../lib/json";
import type { Machine } from "../../plan/cluster/machine";
import type { PodNetworkKind } from "../../plan/endpoint/network-ports";
import type { MachineReading } from "../../plan/facts/machine-reading";
import { defaultServer } from "../../plan/configuration/registries";
import { tagsOf } from "../../plan/facts/components";
import { type MachineSpecification, specificationOf } from "../../plan/cluster/pools";
import { type ClusterSpecification, sourceOfVersion } from "../../plan/cluster/specification";
import { namedFacts, reading } from "../adoption/adoption-steps";
import { proxyVariables, sourceParameters } from "../parameters";
import type { Parameters } from "../shell";
import { type Backend, ownerParameters, preflightParameters, preparationParts, type Script } from "../steps";

/** How long a machine may ask a repository, in seconds. */
const SECONDS_TO_ASK = 4;

/** Paths whose disks a node writes to or runs programs from. */
const MOUNTED = ["/etc", "/usr", "/usr/local", "/opt", "/var/lib/foresail", "/var/log", "/run", "/tmp"];

/** The registry of Kubernetes' own images, unless the configuration names another one. */
const REGISTRY = "registry.k8s.io";

/** What the configuration wants a machine to become. */
export interface ReadFor {
  readonly specification: ClusterSpecification;
  readonly podNetwork: PodNetworkKind;
  readonly machine: Pick<Machine, "name" | "role" | "group">;
  /** Address by which the other nodes reach it; absent if it is not known yet. */
  readonly internalAddress?: string;
  /** Machines that it must reach, with a port on which something listens: each "name address port". */
  readonly neighbors?: readonly string[];
  /** Internal addresses of the cluster's machines, which are reached without a proxy. */
  readonly addresses?: readonly string[];
  /** The control planes, for the list of what the preparation changes; without, it is not listed. */
  readonly backends?: readonly Backend[];
  /** SHA-256 of the registries' credentials as containerd has them; absent if it is not known. */
  readonly credentialsSum?: string;
}

/** Returns the addresses from which a machine gets its software and images, by name. */
function pagesOf(specification: ClusterSpecification): Record<string, string> {
  const { source, version, imageRepository, registryMirrors, registryServers } = specification;
  const own = sourceOfVersion(source, version);
  if ("bundle" in own) return "url" in own.bundle ? { bundle: own.bundle.url } : {};
  const { REPOSITORY } = sourceParameters({ source }, version);
  const repository = `${String(REPOSITORY)}Release.key`;
  const registry = (imageRepository ?? REGISTRY).split("/")[0] ?? REGISTRY;
  // containerd goes on with the next mirror, so that one alone decides nothing
  const hasMirrors = ["_default", registry].some((each) => ownValue(registryMirrors, each) !== undefined);
  if (hasMirrors || ownValue(registryServers ?? {}, registry) !== undefined) return { repository };
  return { repository, registry: `${defaultServer(registry)}/v2/` };
}

/** Reads what decides whether a machine can become a node, for parseMachineReading. Writes nothing. */
export function machineReadingScript(wanted: ReadFor): Script {
  const { machine, podNetwork, internalAddress = "", neighbors = [], addresses = [] } = wanted;
  const specification = specificationOf(wanted.specification, machine);
  const { name, source, version } = specification;
  const own = sourceOfVersion(source, version);
  const isPackages = "packages" in own;
  const preflight = preflightParameters(specification, machine.role, podNetwork);
  const planned = plannedParts({ ...wanted, specification });
  const first = ["common/system", "common/owner", "common/software"];
  return reading("machine-reading", [...first, ...planned.files])(name, machine.name, {
    ...ownerParameters(name, machine.name),
    VERSION: version,
    IMAGE_REPOSITORY: specification.imageRepository ?? "",
    ...preflight,
    ADDRESS: internalAddress,
    PROXY: proxyVariables(specification, addresses),
    PAGES: Object.entries(pagesOf(specification)).map(([page, url]) => `${page} ${url}`),
    REPOSITORY: isPackages ? String(sourceParameters({ source }, version)["REPOSITORY"]) : "",
    BUNDLE: "",
    GIVEN_BUNDLE: "bundle" in own && "path" in own.bundle ? own.bundle.path : "",
    PLANNED: planned.files.length > 0,
    NEIGHBORS: [...neighbors],
    SECONDS_TO_ASK,
    MOUNTED: [...MOUNTED, ...(preflight["DATA_PATHS"] as readonly string[])],
    ...planned.parameters,
  });
}

/** Returns the shell files that list what the preparation changes, and their variables; none if that is not asked for. */
function plannedParts(wanted: ReadFor & { specification: MachineSpecification }): {
  files: readonly string[];
  parameters: Parameters;
} {
  const { specification, machine, internalAddress, addresses = [], backends = [], credentialsSum } = wanted;
  if (backends.length === 0 || internalAddress === undefined) return { files: [], parameters: {} };
  const machines = addresses.map((address) => ({ name: machine.name, address }));
  const { files, parameters } = preparationParts(specification, {
    machine: { ...machine, internalAddress },
    backends,
    machines: specification.proxy ? machines : [],
  });
  // contents may be secret, and the host may not be known yet
  const { FILE_CONTENTS: contents, REGISTRY_HOSTS: hosts } = parameters;
  const withSums = {
    FILE_CONTENTS: [],
    FILE_SUMS: sumsOf(contents),
    REGISTRY_HOSTS: [],
    REGISTRY_SUMS: sumsOf(hosts),
    CREDENTIALS_SUM: credentialsSum ?? "",
    PAUSE_IMAGE: pauseImageOf(specification),
  };
  return { files: [...files, "facts/planned-preparation"], parameters: { ...parameters, ...withSums } };
}

function pauseImageOf({ version, imageRepository = REGISTRY }: ClusterSpecification): string {
  const tags = tagsOf(version);
  return tags === undefined ? "" : `${imageRepository}/pause:${tags.pause}`;
}

/** Returns the SHA-256 sums of files as the preparation writes them: with one line break at the end. */
const sumsOf = (contents: readonly string[]): string[] =>
  contents.map((content) =>
    createHash("sha256")
      .update(`${content.replace(/\n$/, "")}\n`)
      .digest("hex"),
  );

/** Parses the answer of machineReadingScript. @param at when it came, in milliseconds of this clock */
export function parseMachineReading(answer: string, at: number): MachineReading {
  return { at, facts: new Map([...namedFacts(answer)].map(([name, text]) => [name, text.trimEnd()])) };
}
