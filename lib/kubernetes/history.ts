import { waitFor } from "../wait";
import type { KubernetesClient } from "./client";
import { KubernetesError } from "./errors";
import { completeHolder } from "./lease-holder";
import type { KubernetesObject, ObjectRef } from "./objects";

/** One completed or failed step. This process took it. */
export interface HistoryEntry {
  stack: string;
  step: string;
  /** "done", or the error */
  result: string;
  seconds: number;
}

type History = KubernetesObject & { data?: Record<string, string> };

const REF: ObjectRef = {
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "kube-system",
  name: "foresail-history",
};
const KEY = "history";
const KEPT_LINES = 200;
const LONGEST_RESULT = 500;
const TRY_SECONDS = 20;

/** Returns the line of an entry: time, user and host, stack, step, result, seconds. */
function historyLine(entry: HistoryEntry, at = new Date()): string {
  const { user, host } = completeHolder(entry);
  const result = entry.result.replaceAll(/\s+/g, " ").slice(0, LONGEST_RESULT);
  const time = at.toISOString().replace(/\.\d+Z$/, "Z");
  return `${time} ${user}@${host} ${entry.stack}: ${entry.step}: ${result}, ${Math.round(entry.seconds)} s`;
}

/** Adds a line to the history and drops the oldest lines beyond 200. */
export function withLine(text: string, line: string): string {
  const lines = [...text.split("\n").filter((old) => old !== ""), line];
  return `${lines.slice(-KEPT_LINES).join("\n")}\n`;
}

/**
 * Writes a step into the ConfigMap kube-system/foresail-history. Retries on conflict, so that concurrent writers both
 * get their line.
 *
 * @throws KubernetesError, KubernetesUnreachable, WaitTimeout
 */
export async function recordHistory(client: KubernetesClient, entry: HistoryEntry): Promise<void> {
  const line = historyLine(entry);
  await waitFor<void>({
    what: "the history of the cluster (ConfigMap kube-system/foresail-history)",
    seconds: TRY_SECONDS,
    firstPauseMilliseconds: 50,
    probe: async () => {
      try {
        await append(client, line);
        return { done: undefined };
      } catch (error) {
        if (error instanceof KubernetesError && [404, 409].includes(error.status))
          return { pending: "another process writing it" };
        throw error;
      }
    },
  });
}

async function append(client: KubernetesClient, line: string): Promise<void> {
  const history = await client.get<History>(REF);
  const data = { [KEY]: withLine(history?.data?.[KEY] ?? "", line) };
  const { namespace, name } = REF;
  if (!history) {
    await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data });
    return;
  }
  await client.mergePatch(REF, { metadata: { resourceVersion: history.metadata?.resourceVersion }, data });
}
