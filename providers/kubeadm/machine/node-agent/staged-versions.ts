import { VERSION_PLACEHOLDER, type SoftwareSource } from "../../plan/specification";

/** What a node may be brought to. */
export interface StagedVersions {
  /** Kubernetes versions, MAJOR.MINOR.PATCH, the wished one first. */
  kubernetes: string[];
  /** Version by software, of containerd and os-packages. */
  software: Record<string, string>;
}

/** Every version that a rollout to the wish may pass through, each once. */
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

/** Names of all that is staged: Kubernetes by its bare version, everything else with its name before it. */
export function namesOfStaged({ kubernetes, software }: StagedVersions): string[] {
  return [...kubernetes, ...Object.entries(software).map(([name, version]) => `${name} ${version}`)];
}

/** Why a source can't serve all these versions, or undefined. */
export function refuseStaging(source: SoftwareSource, { kubernetes }: StagedVersions): string | undefined {
  const [desired = "", ...others] = kubernetes;
  if ("packages" in source || others.length === 0) return undefined;
  if ("url" in source.bundle)
    return `the bundle at ${source.bundle.url} has the checksum of one version, ${desired}, so ${others.join(", ")} can't be on the way to it; take a bundle folder with ${VERSION_PLACEHOLDER} in its path, or go to ${others.join(", ")} first`;
  if (!source.bundle.path.includes(VERSION_PLACEHOLDER))
    return `the bundle folder ${source.bundle.path} is the same for every version, so it can't hold ${kubernetes.join(" and ")}; write ${VERSION_PLACEHOLDER} into the path`;
  return undefined;
}
