import { labelValueIssue } from "../../../lib/validation/labels";
import type { ConnectionFacts } from "./requirements";

/** Returns a machine's topology labels: the well-known ones for region and zone, and CB-Ladybug's for the cloud. */
export function topologyLabels({ provider, region, zone }: ConnectionFacts): Record<string, string> {
  const labels = {
    "topology.kubernetes.io/region": region,
    "topology.kubernetes.io/zone": zone,
    "topology.cloud-barista.github.io/csp": provider,
  };
  // Some clouds report no zone.
  return Object.fromEntries(
    Object.entries(labels).filter(([, value]) => value !== "" && labelValueIssue(value) === undefined),
  );
}

/**
 * Returns the machines of each cloud, region and zone, one line each: "aws ap-northeast-2 ap-northeast-2a: cp-1,
 * w-1".
 */
export function spreadLines(places: readonly { machine: string; at: ConnectionFacts }[]): string[] {
  const byPlace = new Map<string, string[]>();
  for (const { machine, at } of places) {
    const ref = [at.provider, at.region, at.zone].filter((word) => word !== "").join(" ");
    byPlace.set(ref, [...(byPlace.get(ref) ?? []), machine]);
  }
  return [...byPlace].map(([ref, machines]) => `${ref}: ${machines.join(", ")}`);
}
