import { KubernetesClient, KubernetesError } from "../../../../lib/kubernetes";
import { refOf } from "../../../../lib/kubernetes/objects";
import { RunInterrupted } from "../../../../lib/process/interruption";
import { messageOf } from "../../../../lib/error-message";
import { releaseScript } from "../../machine/adoption/adoption-steps";
import { WRITTEN_SETTINGS } from "../../plan/adoption/adopted-configuration";
import { allKeptObjects } from "../../plan/cluster/kept-objects";
import { GROUP_LABEL } from "../../plan/membership/nodes";
import { remainingSettings } from "../../plan/adoption/release";
import {
  ALL_SOFTWARE,
  annotationsBetween,
  CERTIFICATES,
  DRIFT,
  OS_UPDATES,
} from "../../plan/rollout/annotations";
import { administratorKubeconfig } from "./adoption";
import { nodeReference } from "../session/cluster-session";
import type { ClusterInitOutputs } from "../declarations";
import { failuresOfEach, type MachinesSession } from "../session/machines-session";

/** A working node agent keeps the machine's lock; a release waits for it. */
const RELEASE_SECONDS = 1500;
const API_SECONDS = 30;

/**
 * Gives an adopted cluster back: removes node agents, marks, annotations, the groups' label, the reader's account and the
 * policy, and nothing else. A machine or an API that does not answer is reported, since a destroy always ends.
 */
export async function releaseAll(
  session: MachinesSession<ClusterInitOutputs>,
  annotations: string,
): Promise<void> {
  const { inputs, progress } = session;
  const { machines, former = [] } = inputs;
  progress("releases the cluster, which keeps running; nothing is reset, since the stack adopted it");
  for (const line of remainingSettings({ ...inputs })) progress(line);
  // before the machines, whose control planes are asked for it
  const access = await administratorKubeconfig(session).catch((error: unknown) => ({
    why: messageOf(error),
  }));
  // the agents first: a running one would write its annotations again
  const failures = await failuresOfEach([...machines, ...former], "release", async (machine) => {
    await session.run(machine, releaseScript, { seconds: RELEASE_SECONDS });
    progress(`${machine.name} is released`);
  });
  for (const { machine, text } of failures)
    if (!former.includes(machine)) progress(`${text}; its node agent and /etc/foresail stay on the machine`);
  const why = typeof access === "string" ? await clearCluster(access, annotations) : access.why;
  progress(
    why === undefined
      ? "foresail's annotations, labels, account and policy are removed from the cluster"
      : `foresail's annotations, labels, account and policy stay in the cluster, which could not be changed: ${why}`,
  );
}

/** Removes what foresail wrote into the cluster. @returns why it could not */
async function clearCluster(kubeconfig: string, pattern: string): Promise<string | undefined> {
  try {
    const kubernetes = await KubernetesClient.connect({ kubeconfig }, { seconds: API_SECONDS });
    try {
      for (const reference of [...allKeptObjects(pattern).map(refOf), WRITTEN_SETTINGS])
        await kubernetes.delete(reference);
      for (const { metadata } of await kubernetes.listNodes())
        await clearNode(
          kubernetes,
          metadata?.name ?? "",
          { ...metadata?.labels, ...metadata?.annotations },
          pattern,
        );
    } finally {
      kubernetes.close();
    }
    return undefined;
  } catch (error) {
    if (error instanceof RunInterrupted) throw error;
    return messageOf(error);
  }
}

async function clearNode(
  kubernetes: KubernetesClient,
  name: string,
  present: Readonly<Record<string, unknown>>,
  pattern: string,
): Promise<void> {
  const { commands, reports } = annotationsBetween(pattern, [
    ...ALL_SOFTWARE,
    DRIFT,
    CERTIFICATES,
    OS_UPDATES,
  ]);
  const own = [...commands, ...reports].filter((key) => key in present);
  if (own.length === 0 && !(GROUP_LABEL in present)) return;
  const annotations = Object.fromEntries(own.map((key) => [key, null]));
  const labels = { [GROUP_LABEL]: null };
  await kubernetes
    .mergePatch(nodeReference(name), { metadata: { annotations, labels } })
    .catch((error: unknown) => {
      // a Node that is deleted at the same moment
      if (!(error instanceof KubernetesError) || error.status !== 404) throw error;
    });
}
