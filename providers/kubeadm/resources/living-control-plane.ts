import { isReady } from "../../../lib/kubernetes/api-server-health";
import type { Machine } from "../plan/machine";

/** The first of some control planes whose API server is ready. */
export async function firstReady(controlPlanes: Machine[]): Promise<Machine | undefined> {
  const ready = await Promise.all(controlPlanes.map(({ apiServer }) => isReady(apiServer)));
  return controlPlanes.find((_machine, index) => ready[index]);
}

/** That none of some control planes has an API server that is ready, in words. */
export function noneReady(controlPlanes: Machine[]): string {
  const asked = controlPlanes.map(({ name, apiServer }) => `${name} (${apiServer})`).join(", ");
  return `no control plane's API server is ready; asked ${asked}`;
}

/**
 * A control plane whose API server is ready, found when it is needed and never stored.
 *
 * @throws Error when none is, naming those that were asked
 */
export async function livingControlPlane(controlPlanes: Machine[]): Promise<Machine> {
  const living = await firstReady(controlPlanes);
  if (!living) throw new Error(noneReady(controlPlanes));
  return living;
}
