import { listed } from "../../../../lib/text/quote";
import type { NodeRolloutStep } from "../steps";

/** What a machine's repositories say about a version. */
export type PackageOffer =
  | { kind: "offered" }
  | { kind: "missing"; package: string; versions: readonly string[] }
  | { kind: "unread"; why: string };

const CONTAINERD = "containerd";
/** Most versions of one message. */
const MOST_VERSIONS = 8;

/** Returns the version of containerd that each machine gets by these steps. */
export function containerdVersions(steps: readonly NodeRolloutStep[]): Map<string, string> {
  return new Map(
    steps.flatMap((step): [string, string][] => {
      if (step.kind !== "upgrade") return [];
      const change = step.software?.find(({ name }) => name === CONTAINERD);
      return change === undefined ? [] : [[step.machine, change.to]];
    }),
  );
}

/** Returns why machines can't get a version, once for those whose repositories have the same. @param offers by machine */
export function missingPackages(offers: ReadonlyMap<string, PackageOffer>, version: string): string[] {
  const machines = new Map<string, string[]>();
  for (const [machine, offer] of offers) {
    if (offer.kind !== "missing") continue;
    const { versions } = offer;
    const more = versions.length > MOST_VERSIONS ? ` and ${versions.length - MOST_VERSIONS} others` : "";
    const has =
      versions.length === 0
        ? "they have no version of it. Add a repository that has it"
        : `they have ${listed(versions.slice(0, MOST_VERSIONS))}${more}. Write one of these, or add a repository that has it`;
    const text = `has ${offer.package} ${version}; ${has}`;
    machines.set(text, [...(machines.get(text) ?? []), machine]);
  }
  return [...machines].map(([text, names]) => `no apt repository of ${listed(names)} ${text}`);
}
