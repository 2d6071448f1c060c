import { displayLine } from "../text/display";
import { shortened } from "../text/quote";
import type { KubernetesClient } from "./client";
import { completeHolder } from "./lease-holder";
import type { KubernetesObject } from "./objects";
import { CLUSTER_HISTORY } from "./own-objects";

/** One completed or failed step. This process took it. */
export interface HistoryEntry {
  stack: string;
  step: string;
  /** "done", or the error */
  result: string;
  seconds: number;
}

type History = KubernetesObject & { data?: Record<string, string> };

const KEY = "history";
const KEPT_LINES = 200;
const LONGEST_RESULT = 500;
/** 200 lines of so many characters fit into an object of the API, which has 1 MiB at most. */
const LONGEST_LINE = 1_500;

/** Returns the line of an entry: time, user and host, stack, step, result, seconds. */
function historyLine(entry: HistoryEntry, at = new Date()): string {
  const { user, host } = completeHolder(entry);
  const result = shortened(displayLine(entry.result).replaceAll(/\s+/g, " "), LONGEST_RESULT);
  const time = at.toISOString().replace(/\.\d+Z$/, "Z");
  return displayLine(
    `${time} ${user}@${host} ${entry.stack}: ${entry.step}: ${result}, ${Math.round(entry.seconds)} s`,
  );
}

/** Adds a line to the history, drops the oldest lines beyond 200, and cuts those that are too long, also lines that others wrote. */
export function withLine(text: string, line: string): string {
  const lines = [...text.split("\n").filter((old) => old !== ""), line];
  const kept = lines.slice(-KEPT_LINES).map((each) => shortened(each, LONGEST_LINE - 1));
  return `${kept.join("\n")}\n`;
}

/** Returns the lines of the history, the oldest first. Others may have written some. */
export function historyOf(object: History | undefined): string[] {
  const text = object?.data?.[KEY] ?? "";
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => shortened(displayLine(line), LONGEST_LINE));
}

/**
 * Writes a step into the ConfigMap kube-system/foresail-history. Retries on conflict, so that concurrent writers both
 * get their line.
 *
 * @throws KubernetesError, KubernetesUnreachable
 */
export async function recordHistory(client: KubernetesClient, entry: HistoryEntry): Promise<void> {
  const line = historyLine(entry);
  await client.change<History>(CLUSTER_HISTORY, (history) => ({
    data: { [KEY]: withLine(history?.data?.[KEY] ?? "", line) },
  }));
}
