import type { Mistake } from "./mistake";
import { quoted } from "./quote";

interface NodeGroup {
  name: string;
  autoscale: boolean;
  count?: number | undefined;
  minCount?: number | undefined;
  maxCount?: number | undefined;
}

/** What is wrong with the name of a node group, as the chart openstack-cluster 0.27.0 has it, or undefined. */
export function nodeGroupNameMistake(name: string): string | undefined {
  if (/^[a-z][a-z0-9-]+[a-z0-9]$/.test(name) && name.length <= 40) return undefined;
  return (
    `${quoted(name)} is not the name of a node group; write 3 to 40 lower-case letters, digits and dashes, ` +
    `with a letter first and a letter or digit last`
  );
}

/** What is wrong with the numbers of a node group: a fixed one, or a range, and never both. */
export function nodeGroupMistakes({ autoscale, count, minCount, maxCount }: NodeGroup): Mistake[] {
  if (!autoscale) {
    const range = Object.entries({ minCount, maxCount }).filter(([, value]) => value !== undefined);
    return [
      ...(count === undefined ? [{ path: ["count"], message: "is missing; write how many machines" }] : []),
      ...range.map(([field]) => ({
        path: [field],
        message: "is for a group that scales by itself; remove it, or write autoscale: true",
      })),
    ];
  }
  const missing = Object.entries({ minCount, maxCount }).filter(([, value]) => value === undefined);
  return [
    ...(count === undefined
      ? []
      : [{ path: ["count"], message: "is for a group that does not scale by itself; remove it" }]),
    ...missing.map(([field]) => ({ path: [field], message: "is missing; the group scales by itself" })),
    ...(minCount !== undefined && maxCount !== undefined && maxCount < minCount
      ? [{ path: ["maxCount"], message: `is ${maxCount}, less than minCount; write ${minCount} or more` }]
      : []),
  ];
}

/** An address of something that is not installed. */
export function loadBalancerAddressMistakes(addons: {
  ingress: boolean;
  ingressControllerLoadBalancerIp?: string | undefined;
}): Mistake[] {
  if (addons.ingress || addons.ingressControllerLoadBalancerIp === undefined) return [];
  const message = "is for the ingress controller; remove it, or write ingress: true";
  return [{ path: ["ingressControllerLoadBalancerIp"], message }];
}
