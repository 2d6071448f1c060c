import type { Condition } from "./observed";

interface InfrastructureObject {
  metadata?: { generation?: number };
  status?: { observedGeneration?: number; conditions?: readonly Condition[] };
}

/**
 * Returns why the machines may not match the infrastructure object yet; undefined when its status does not say so. A
 * change of its template alone does not change the MachinePool, whose status is then outdated.
 */
export function unsettled({ metadata, status }: InfrastructureObject): string | undefined {
  const { observedGeneration, conditions = [] } = status ?? {};
  // not every provider sets it
  if (observedGeneration !== undefined && observedGeneration < (metadata?.generation ?? 0))
    return "its controller has not seen the change yet";
  const ready = conditions.find(({ type }) => type === "Ready");
  if (ready?.status !== "False") return undefined;
  const why = [ready.reason, ready.message].filter(Boolean).join(": ");
  return `Ready is False${why && ` (${why})`}`;
}
