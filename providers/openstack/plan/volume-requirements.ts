import {
  exceededQuotas,
  findNamed,
  type UnmetRequirement,
  type Named,
  type Quota,
  type QuotaNeed,
} from "./unmet-requirement";
import type { RootVolume } from "./machine";

/** Facts about a cloud's block-storage service. */
export interface VolumeFacts {
  types: Named[];
  /** Quotas by Cinder's keys, such as "volumes", "gigabytes" and "gigabytes_ssd"; absent if Cinder reports none. */
  quota?: Readonly<Record<string, Quota>>;
}

/** The root volume of a new server. */
interface DesiredVolume {
  pool: string;
  rootVolume: RootVolume;
}

/**
 * Returns the unmet requirements of new servers' root volumes.
 *
 * @param facts undefined if the cloud has no block-storage service
 */
export function unmetVolume(
  desired: readonly DesiredVolume[],
  facts: VolumeFacts | undefined,
): UnmetRequirement[] {
  if (facts === undefined)
    return desired.map(({ pool }) => ({
      property: `openstack.pools.${pool}.rootVolume`,
      reason:
        "the cloud has no block-storage service (Cinder); leave `rootVolume` out, and machines boot from their flavor's disk",
    }));
  return [
    ...desired.flatMap((volume) => unmetSingle(volume, facts)),
    ...exceededQuotas(quotaNeeds(desired, facts)),
  ];
}

function unmetSingle(
  { pool, rootVolume: { size, type } }: DesiredVolume,
  { types, quota }: VolumeFacts,
): UnmetRequirement[] {
  const path = `openstack.pools.${pool}.rootVolume`;
  const found = type === undefined ? undefined : findNamed("volume type", type, types);
  const largest = quota?.per_volume_gigabytes?.limit ?? -1;
  return [
    ...(typeof found === "string" ? [{ property: `${path}.type`, reason: found }] : []),
    ...(largest >= 0 && size > largest
      ? [
          {
            property: `${path}.sizeGiB`,
            reason: `${size} GiB is more than the quota allows one volume: ${largest} GiB; ask for more, or take a smaller one`,
          },
        ]
      : []),
  ];
}

function quotaNeeds(desired: readonly DesiredVolume[], { types, quota = {} }: VolumeFacts): QuotaNeed[] {
  const typeOf = ({ rootVolume: { type } }: DesiredVolume) => {
    const found = type === undefined ? undefined : findNamed("volume type", type, types);
    return typeof found === "object" ? found.name : undefined;
  };
  const needs = (of: readonly DesiredVolume[], suffix: string, words: string): QuotaNeed[] => {
    const none = { limit: -1, used: 0 };
    const size = of.reduce((sum, { rootVolume }) => sum + rootVolume.size, 0);
    return [
      {
        what: `volumes${words}`,
        unit: "",
        need: of.length,
        ...(quota[`volumes${suffix}`] ?? none),
        todo: "take fewer machines with a `rootVolume`",
      },
      {
        what: `the size of volumes${words}`,
        unit: " GiB",
        need: size,
        ...(quota[`gigabytes${suffix}`] ?? none),
        todo: "take a smaller `rootVolume.sizeGiB`",
      },
    ];
  };
  const named = [...new Set(desired.map(typeOf))].filter((name) => name !== undefined);
  return [
    ...needs(desired, "", ""),
    ...named.flatMap((name) =>
      needs(
        desired.filter((volume) => typeOf(volume) === name),
        `_${name}`,
        ` of type "${name}"`,
      ),
    ),
  ];
}
