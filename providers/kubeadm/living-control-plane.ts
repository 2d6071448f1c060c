import { isReady } from "../../clients/api-server-health";
import type { Machine } from "../../core/machine";

/**
 * A control plane whose API server is ready, found when it is needed and never stored.
 *
 * @throws Error when none is, naming those that were asked
 */
export async function livingControlPlane(controlPlanes: Machine[]): Promise<Machine> {
  const ready = await Promise.all(controlPlanes.map(({ apiServer }) => isReady(apiServer)));
  const living = controlPlanes.find((_machine, index) => ready[index]);
  if (living) return living;
  const asked = controlPlanes.map(({ name, apiServer }) => `${name} (${apiServer})`).join(", ");
  throw new Error(`no control plane's API server is ready; asked ${asked}`);
}
