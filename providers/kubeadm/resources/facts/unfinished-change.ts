import { report } from "../../../../lib/pulumi/log";
import { isKnownList } from "../../../../lib/unknown";
import { unfinishedChange } from "../../plan/facts/unfinished-change";
import type { JumpHost, Machine, SshCredentials } from "../../plan/cluster/machine";
import type { Timeouts } from "../declarations";
import type { ReadFacts } from "../../plan/facts/machine-facts";
import { readMachineFacts } from "./reading";

/** Inputs by which the control planes are reached. */
export interface ControlPlaneAccess {
  readonly machines?: Machine[];
  /** Those of a resource whose machines are workers. */
  readonly controlPlanes?: Machine[];
  readonly credentials?: SshCredentials;
  readonly jumpHost?: JumpHost;
  readonly timeouts?: Pick<Timeouts, "change">;
}

/** Waits of this process by kubeconfig, and whether the API answered. */
const waits = new Map<string, Promise<boolean>>();

/**
 * Waits for the API server of a control plane that says to be in the middle of a change, as long as that may take. The
 * resources of a run share the wait, and one of them says so.
 *
 * @param asker the resource that says so
 * @returns whether the API answers; false without waiting when no control plane says so
 */
export function untilChanged(
  asker: string,
  kubeconfig: string,
  access: ControlPlaneAccess,
): Promise<boolean> {
  const wait = waits.get(kubeconfig) ?? waitForChange(asker, kubeconfig, access);
  waits.set(kubeconfig, wait);
  return wait;
}

/** Reads the facts of control planes, as far as they can be asked; others that ask a moment later share the answers. */
export async function readControlPlanes(access: ControlPlaneAccess): Promise<ReadonlyMap<string, ReadFacts>> {
  const { machines = [], controlPlanes = machines, credentials, jumpHost } = access;
  if (credentials === undefined || !isKnownList(controlPlanes)) return new Map();
  const asked = controlPlanes.filter(({ role }) => role === "control-plane");
  return readMachineFacts({ credentials, ...(jumpHost && { jumpHost }) }, asked);
}

async function waitForChange(
  asker: string,
  kubeconfig: string,
  access: ControlPlaneAccess,
): Promise<boolean> {
  const change = unfinishedChange(await readControlPlanes(access), access.timeouts?.change);
  if (change === undefined) return false;
  const { machine, seconds } = change;
  report(
    asker,
    `waits for the API server of ${machine}, in whose change an earlier run ended: at most ${seconds} s`,
  );
  const { KubernetesClient } = await import("../../../../lib/kubernetes/index.js");
  try {
    (await KubernetesClient.connect({ kubeconfig }, { seconds, readsOnly: true })).close();
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === "KubernetesUnreachable") return false;
    throw error;
  }
}
