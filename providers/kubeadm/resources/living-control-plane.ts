import { isReady } from "../../../lib/kubernetes/api-server-health";
import type { Machine } from "../plan/machine";

/** Returns the first control plane whose API server is ready. */
export async function firstReady(controlPlanes: Machine[]): Promise<Machine | undefined> {
  const ready = await Promise.all(controlPlanes.map(({ apiServer }) => isReady(apiServer)));
  return controlPlanes.find((_machine, index) => ready[index]);
}

/** Formats the message that no control plane's API server is ready. */
export function noneReady(controlPlanes: Machine[]): string {
  const asked = controlPlanes.map(({ name, apiServer }) => `${name} (${apiServer})`).join(", ");
  return `no control plane's API server is ready; asked ${asked}`;
}

/**
 * Returns a control plane whose API server is ready, looked up on each call and never stored.
 *
 * @throws Error when none is ready, with the names of all
 */
export async function livingControlPlane(controlPlanes: Machine[]): Promise<Machine> {
  const living = await firstReady(controlPlanes);
  if (!living) throw new Error(noneReady(controlPlanes));
  return living;
}
