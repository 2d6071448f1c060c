import { shortened, quoted } from "../../../../lib/text/quote";
import { displayLine } from "../../../../lib/text/display";
import type { Machine } from "../cluster/machine";
import { controlPlaneEndpoint, type ClusterSpecification } from "../cluster/specification";
import type { FixedFacts, ReadFacts } from "./machine-facts";

const LONGEST = 100;

/** A setting of a cluster that an interrupted run made, which is not the configured one. */
export interface BegunDifference {
  /** Path in the configuration, as a user writes it. */
  property: string;
  reason: string;
}

/**
 * Returns how a cluster that an interrupted run made differs from the configured one in what can't change any more. The
 * state has no cluster yet, so only its machines know.
 */
export function begunDifferences(
  { name }: Pick<Machine, "name">,
  facts: ReadFacts | undefined,
  { network, endpoint }: Pick<ClusterSpecification, "network" | "endpoint">,
): BegunDifference[] {
  if (facts === undefined || "unread" in facts || facts.fixed === undefined) return [];
  const wanted: Readonly<Record<keyof FixedFacts, [path: string, value: string]>> = {
    podSubnet: ["network.podSubnet", network.podCidr],
    serviceSubnet: ["network.serviceSubnet", network.serviceCidr],
    dnsDomain: ["network.dnsDomain", network.dnsDomain],
    endpoint: ["endpoint", controlPlaneEndpoint(endpoint)],
  };
  return Object.entries(facts.fixed).flatMap(([fact, has = ""]) => {
    const [path, value] = wanted[fact as keyof FixedFacts];
    if (has === value) return [];
    return [
      {
        property: `cluster.${path}`,
        reason:
          `is ${quoted(value)}, and a run that was interrupted has already made the cluster on ${name} with ${quoted(shortened(displayLine(has), LONGEST))}, which can't change any more: ` +
          "write that value, or run `pulumi destroy`, which gives the machines back, and then `up`",
      },
    ];
  });
}
