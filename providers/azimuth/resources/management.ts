import type { KubernetesClient } from "../../../lib/kubernetes";
import { engineSignal } from "../../../lib/process/parent-watch";
import { describeFailure, PartialFailure } from "../../../lib/pulumi/failure";
import { connectTo } from "../../kubernetes/resources/inputs";
import { type AzimuthInputs, nameOf, progressOf } from "./cluster-inputs";

/** What a handler needs to work on the management cluster. */
interface ManagementWork {
  management: KubernetesClient;
  signal: AbortSignal;
  progress: (line: string) => void;
}

/**
 * Runs work on the management cluster for one resource, until the engine ends.
 *
 * @param step the step's name for failure messages
 * @param saved returns id and properties for the state, once there is a side effect to record
 */
export async function onManagement<T>(
  type: string,
  inputs: AzimuthInputs,
  step: string,
  work: (work: ManagementWork) => Promise<T>,
  saved?: () => { id: string; properties: object } | undefined,
): Promise<T> {
  const resource = nameOf(type, inputs);
  const engine = engineSignal();
  const progress = progressOf(resource);
  try {
    const management = await connectTo(inputs, { signal: engine.signal, progress });
    try {
      return await work({ management, signal: engine.signal, progress });
    } finally {
      management.close();
    }
  } catch (error) {
    const made = saved?.();
    if (made) throw new PartialFailure(made.id, made.properties, { resource, step }, error);
    throw new Error(describeFailure({ resource, step }, error), { cause: error });
  } finally {
    engine.stop();
  }
}
