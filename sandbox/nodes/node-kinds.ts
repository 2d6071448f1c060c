import { CONTAINERD_VERSIONS, type ContainerdMinor } from "../toolchain/containerd-program";

/** Systems of nodes, with the distribution's name of the release. */
const SYSTEMS = { "debian-12": "bookworm", "debian-13": "trixie" } as const;

/** What a node is made of. */
export interface NodeKind {
  readonly system: keyof typeof SYSTEMS;
  /** A minor that is built from its Go module; absent: the distribution's package. */
  readonly containerd?: ContainerdMinor | undefined;
}

export const DEFAULT_KIND: NodeKind = { system: "debian-13", containerd: "2.4" };

export const NODE_SYSTEMS = Object.keys(SYSTEMS) as NodeKind["system"][];
export const CONTAINERD_MINORS = Object.keys(CONTAINERD_VERSIONS) as ContainerdMinor[];

/** Returns the distribution's name of a kind's release, such as "bookworm". */
export const releaseOf = ({ system }: NodeKind): string => SYSTEMS[system];

/** Returns a kind as progress shows it: "debian-13 with containerd 2.4.2". */
export function describeKind({ system, containerd }: NodeKind): string {
  return containerd === undefined ? system : `${system} with containerd ${CONTAINERD_VERSIONS[containerd]}`;
}
