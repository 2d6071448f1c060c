import { VERSION_PLACEHOLDER, type SoftwareSource } from "../../plan/specification";

/** Versions that a node can be brought to. */
export interface StagedVersions {
  /** Kubernetes versions, MAJOR.MINOR.PATCH, the desired one first. */
  kubernetes: string[];
  /** Versions of containerd and os-packages, by software. */
  software: Record<string, string>;
}

/** Returns every version that a rollout to the desired versions may pass through, each once. */
export function stagedVersions(desired: {
  version: string;
  intermediates?: readonly string[];
  software?: Readonly<Record<string, string>>;
}): StagedVersions {
  return {
    kubernetes: [...new Set([desired.version, ...(desired.intermediates ?? [])])],
    software: { ...desired.software },
  };
}

/**
 * Returns the names of everything that is staged: Kubernetes as the version alone, other software as name and version.
 */
export function namesOfStaged({ kubernetes, software }: StagedVersions): string[] {
  return [...kubernetes, ...Object.entries(software).map(([name, version]) => `${name} ${version}`)];
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
