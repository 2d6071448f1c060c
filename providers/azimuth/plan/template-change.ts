/** The facts about a ClusterTemplate that matter for a change to or from it. */
export interface TemplateFacts {
  name: string;
  deprecated?: boolean;
  /** `spec.values.kubernetesVersion` */
  kubernetesVersion?: string;
}

export interface TemplateChange {
  /** the cluster's current template; undefined for a new cluster */
  current?: TemplateFacts;
  next: TemplateFacts;
  /** kubelet versions of the cluster's machines */
  kubeletVersions: readonly string[];
}

interface Version {
  numbers: [major: number, minor: number, patch: number];
  preRelease: string;
}

const VERSION = /^v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/;

/**
 * Returns why a cluster can't use a template, by the rules of azimuth-capi-operator's admission webhook, for previews
 * and for management clusters without that webhook. A cluster can always keep its own template; another one must not be
 * deprecated, a downgrade, of another major version, or more than one minor version above the current template or the
 * oldest kubelet.
 *
 * @returns undefined when it can
 */
export function templateChangeRefusal({
  current,
  next,
  kubeletVersions,
}: TemplateChange): string | undefined {
  if (current?.name === next.name) return undefined;
  const name = `ClusterTemplate ${next.name}`;
  if (next.deprecated) return `${name} is deprecated; choose another template`;
  if (current === undefined) return undefined;
  const [from, to] = [parse(current.kubernetesVersion), parse(next.kubernetesVersion)];
  const change = `${current.kubernetesVersion ?? "no version"} → ${next.kubernetesVersion ?? "no version"}`;
  if (!from || !to)
    return `${name} can't be compared with ClusterTemplate ${current.name} (${change}): spec.values.kubernetesVersion is not a version; fix it, or choose another template`;
  if (compare(to, from) < 0)
    return `${name} would be a downgrade (${change}), which Kubernetes does not support; choose a later version`;
  if (to.numbers[0] !== from.numbers[0])
    return `${name} is of another major version (${change}), which is not supported; choose a template of ${from.numbers[0]}.x`;
  if (to.numbers[1] > from.numbers[1] + 1)
    return `${name} is more than one minor version ahead (${change}); upgrade to ${from.numbers[0]}.${from.numbers[1] + 1} first`;
  const oldest = kubeletVersions.flatMap((text) => parse(text) ?? []).sort(compare)[0];
  if (oldest !== undefined && to.numbers[1] > oldest.numbers[1] + 1)
    return `${name} is more than one minor version ahead of the oldest node (${oldest.numbers.join(".")} → ${next.kubernetesVersion}); wait until every node has ${current.kubernetesVersion}`;
  return undefined;
}

/** Parses "1.36.3", "v1.36" or "1.36.0-rc.1". */
function parse(text: string | undefined): Version | undefined {
  const [, major, minor, patch = "0", preRelease = ""] = VERSION.exec(text ?? "") ?? [];
  if (major === undefined) return undefined;
  return { numbers: [Number(major), Number(minor), Number(patch)], preRelease };
}

function compare(one: Version, other: Version): number {
  const difference = one.numbers.map((number, index) => number - (other.numbers[index] ?? 0)).find(Boolean);
  if (difference !== undefined) return difference;
  if (one.preRelease === other.preRelease) return 0;
  // a release comes after its own pre-releases
  if (one.preRelease === "") return 1;
  return other.preRelease === ""
    ? -1
    : one.preRelease.localeCompare(other.preRelease, "en", { numeric: true });
}
