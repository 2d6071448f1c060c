import type { Quota } from "../plan/unmet-requirement";
import type { VolumeFacts } from "../plan/volume-requirements";
import type { Cloud } from "./cloud";
import { CloudRefusal } from "./errors";
import { listAll } from "./list-all";

/** Reads volume types and quotas. Returns undefined if the cloud has no block-storage service. */
export async function readVolumeFacts(cloud: Cloud): Promise<VolumeFacts | undefined> {
  if (!(await cloud.has("block-storage"))) return undefined;
  const [types, quota] = await Promise.all([
    listAll<{ id: string; name: string }>(cloud, "block-storage", "/types", "volume_types"),
    volumeQuota(cloud),
  ]);
  return { types: types.map(({ id, name }) => ({ id, name })), ...(quota ? { quota } : {}) };
}

/** Reads the project's quotas for volumes, in total and by type. Returns undefined if the project may not read them. */
async function volumeQuota(cloud: Cloud): Promise<Record<string, Quota> | undefined> {
  const project = await cloud.project();
  if (project === undefined) return undefined;
  try {
    const { quota_set: set } = await cloud.call(
      "block-storage",
      "GET",
      `/os-quota-sets/${project}?usage=true`,
    );
    const entries = Object.entries(set as Record<string, string | QuotaUsage>);
    return Object.fromEntries(
      entries.flatMap(([key, usage]) =>
        typeof usage === "string"
          ? []
          : [[key, { limit: usage.limit, used: usage.in_use + usage.reserved }] as const],
      ),
    );
  } catch (error) {
    if (error instanceof CloudRefusal) return undefined;
    throw error;
  }
}

interface QuotaUsage {
  limit: number;
  in_use: number;
  /** Reserved by operations in progress. */
  reserved: number;
}
