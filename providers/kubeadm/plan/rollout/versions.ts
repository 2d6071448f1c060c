import { KUBERNETES_MINORS } from "../cluster/kubernetes-minors";

/** The numbers of a Kubernetes version. */
export interface Version {
  major: number;
  minor: number;
  patch: number;
}

const PLAIN = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/;
// cached, since a rollout of a thousand nodes compares the same few versions over and over
const parsed = new Map<string, Version | undefined>();

/** Parses "1.36.3"; returns undefined for any other text, such as a leading v or a pre-release. */
export function parseVersion(text: string): Version | undefined {
  if (parsed.has(text)) return parsed.get(text);
  const [major = 0, minor = 0, patch = 0] = PLAIN.exec(text)?.slice(1).map(Number) ?? [];
  const version = PLAIN.test(text) ? { major, minor, patch } : undefined;
  if (parsed.size > 10_000) parsed.clear();
  parsed.set(text, version);
  return version;
}

/** Compares two versions; negative when the first is older. Other texts compare as text, with numbers by value. */
export function compareVersions(one: string, other: string): number {
  if (one === other) return 0;
  const [a, b] = [parseVersion(one), parseVersion(other)];
  if (!a || !b) return one.localeCompare(other, "en", { numeric: true });
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}

/** Returns "1.36" for "1.36.3". @throws RangeError when the text is not a version */
export const minorOf = (text: string): string => `${strictly(text).major}.${strictly(text).minor}`;

/** Returns how many minors the second is ahead of the first; negative when it is behind. @throws RangeError as above */
export const minorsBetween = (one: string, other: string): number =>
  strictly(other).minor - strictly(one).minor;

/**
 * Returns the version that the lowest kubelet needs next (seed 004, "actually needed version"): the target when it is
 * in the same minor, the next one or below, otherwise the latest patch of the minor after the lowest. Intermediates
 * take precedence over the known patches.
 *
 * @returns undefined when no patch of the minor between is known
 * @throws RangeError when `lowest` or `target` is not a version
 */
export function neededVersion(
  lowest: string,
  target: string,
  intermediates: readonly string[],
): string | undefined {
  if (minorsBetween(lowest, target) < 2) return target;
  const { major, minor } = strictly(lowest);
  const next = `${major}.${minor + 1}`;
  const own = intermediates.filter((text) => parseVersion(text) && minorOf(text) === next);
  return own.sort(compareVersions).at(-1) ?? KUBERNETES_MINORS[next]?.patch;
}

function strictly(text: string): Version {
  const version = parseVersion(text);
  if (!version) throw new RangeError(`"${text}" is not a version`);
  return version;
}
