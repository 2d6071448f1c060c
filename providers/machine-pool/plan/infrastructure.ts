import type { Condition } from "./observed";

interface InfrastructureObject {
  metadata?: { generation?: number };
  status?: { observedGeneration?: number; conditions?: readonly Condition[] };
}

/**
 * Why the machines may not be what the infrastructure object asks for yet, in words; undefined when it says nothing of the
 * kind. A change of its template alone changes nothing in the MachinePool, whose own state is then that of before.
 */
export function unsettled({ metadata, status }: InfrastructureObject): string | undefined {
  const { observedGeneration, conditions = [] } = status ?? {};
  // not every provider tells it
  if (observedGeneration !== undefined && observedGeneration < (metadata?.generation ?? 0))
    return "its controller has not seen the change yet";
  const ready = conditions.find(({ type }) => type === "Ready");
  if (ready?.status !== "False") return undefined;
  const why = [ready.reason, ready.message].filter(Boolean).join(": ");
  return `Ready is False${why && ` (${why})`}`;
}
