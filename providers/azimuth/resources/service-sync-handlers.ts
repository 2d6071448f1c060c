import type { KubernetesClient } from "../../../lib/kubernetes";
import { planServices, type Reservation, servicesChange, type ServicesChange } from "../plan/services";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { connectTo } from "../../kubernetes/resources/inputs";
import { comparingHandlers, onManagement } from "./management";
import type { ServiceSyncInputs as Inputs } from "./declarations";

/** How long to try to reach the cluster itself; without it, the record is enough. */
const TARGET_SECONDS = 5;

/** Compares the services. @returns `silence`: why the cluster itself could not be read */
async function compare(
  management: KubernetesClient,
  inputs: Inputs,
): Promise<{ change: ServicesChange; silence?: string }> {
  const { readServices } = await import("../client/cluster-services.js");
  const [seen, target] = await Promise.all([readServices(management, inputs), askTarget(management, inputs)]);
  const reservations = "reservations" in target ? target.reservations : undefined;
  const plan = reservations && planServices(inputs.cluster, reservations, seen.addons);
  return {
    change: servicesChange(plan, seen),
    ...("silence" in target ? { silence: target.silence } : {}),
  };
}

async function askTarget(
  management: KubernetesClient,
  inputs: Inputs,
): Promise<{ reservations: Reservation[] } | { silence?: string }> {
  const { listReservations, readTargetKubeconfig } = await import("../client/cluster-services.js");
  const { KubeconfigRefused } = await import("../../../lib/kubernetes/index.js");
  const kubeconfig = await readTargetKubeconfig(management, inputs);
  if (kubeconfig === undefined) return {};
  try {
    const target = await connectTo({ ...inputs, kubeconfig }, { seconds: TARGET_SECONDS, readsOnly: true });
    try {
      return { reservations: await listReservations(target) };
    } finally {
      target.close();
    }
  } catch (error) {
    if (error instanceof KubeconfigRefused) throw error;
    return { silence: error instanceof Error ? error.message : String(error) };
  }
}

async function sync(inputs: Inputs): Promise<void> {
  const { writeServices } = await import("../client/cluster-services.js");
  await onManagement("ServiceSync", inputs, "write the services", async ({ management, progress }) => {
    const { change, silence } = await compare(management, inputs);
    if (silence !== undefined) progress(`the cluster cannot be read, so the record decides: ${silence}`);
    for (const line of change.lines) progress(line);
    await writeServices(management, inputs, change);
  });
}

export const handlers: Handlers = comparingHandlers({
  type: "ServiceSync",
  field: "hasRecord",
  async due(management, inputs: Inputs) {
    const { lines } = (await compare(management, inputs)).change;
    return { isDue: lines.length > 0, lines };
  },
  write: sync,
});
