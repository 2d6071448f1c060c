import type { KubernetesClient } from "../../../lib/kubernetes";
import { API } from "../plan/names";
import { planServices, type Reservation, servicesChange, type ServicesChange } from "../plan/services";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { connectTo } from "../../kubernetes/resources/inputs";
import { type Comparison, comparingHandlers } from "./management";
import type { ServiceSyncInputs as Inputs } from "./declarations";
import { messageOf } from "../../../lib/error-message";

const RESERVATIONS = { apiVersion: API.zenith, kind: "Reservation" };
/** How long to try to reach the cluster itself; without it, the record is enough. */
const TARGET_SECONDS = 5;

interface Services extends Comparison {
  change: ServicesChange;
}

async function compare(management: KubernetesClient, inputs: Inputs): Promise<Services> {
  const { readServices } = await import("../client/cluster-services.js");
  const [seen, target] = await Promise.all([readServices(management, inputs), askTarget(management, inputs)]);
  const plan = target.reservations && planServices(inputs.cluster, target.reservations, seen.addons);
  const change = servicesChange(plan, seen);
  const { silence } = target;
  return {
    change,
    isDue: change.lines.length > 0,
    lines: change.lines,
    problem: silence && `the cluster cannot be read, so the record decides: ${silence}`,
  };
}

/** Reads the Reservations. @returns `silence`: why the cluster itself could not be read */
async function askTarget(
  management: KubernetesClient,
  inputs: Inputs,
): Promise<{ reservations?: Reservation[]; silence?: string }> {
  const { listServed, readTargetKubeconfig } = await import("../client/cluster-services.js");
  const { KubeconfigRefused } = await import("../../../lib/kubernetes/index.js");
  const kubeconfig = await readTargetKubeconfig(management, inputs);
  if (kubeconfig === undefined) return {};
  try {
    const target = await connectTo({ ...inputs, kubeconfig }, { seconds: TARGET_SECONDS, readsOnly: true });
    try {
      return { reservations: await listServed(target, RESERVATIONS) };
    } finally {
      target.close();
    }
  } catch (error) {
    if (error instanceof KubeconfigRefused) throw error;
    return { silence: messageOf(error) };
  }
}

export const handlers: Handlers = comparingHandlers<Inputs, Services>({
  type: "ServiceSync",
  field: "hasRecord",
  step: "write the services",
  compare,
  async write(management, inputs, { change }) {
    const { writeServices } = await import("../client/cluster-services.js");
    await writeServices(management, inputs, change);
  },
});
