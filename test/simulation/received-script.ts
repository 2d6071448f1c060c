import { answerMarker } from "../../lib/ssh/answer";

/** A script as received on standard input. */
export interface ReceivedScript {
  operation: string;
  machine: string;
  text: string;
  /** what follows the closing brace */
  data: string;
  lockSeconds: number;
  /** printed before the answer; absent for the command resource, which reads none */
  marker?: string;
}

const TITLE = /^\{\n# foresail: (\S+) (\S+)\n/;
// The script ends with `exit`, so the first brace after one closes it, whatever the data contains.
const END = /\nexit(?: 0)?\n\}(?:\n|$)/;

/** Takes a foresail script apart; undefined when it is none, or was truncated before its closing brace. */
export function parseScript(stdin: string): ReceivedScript | undefined {
  const title = TITLE.exec(stdin);
  const end = END.exec(stdin);
  if (!title || !end) return undefined;
  const text = stdin.slice(2, end.index);
  const lockSeconds = Number(/lock_seconds=(\d+)/.exec(text)?.[1] ?? 1200);
  const [operation, machine] = [title[1] ?? "", title[2] ?? ""];
  const marker = answerMarker(operation, machine);
  const data = stdin.slice(end.index + end[0].length);
  return { operation, machine, text, data, lockSeconds, ...(text.includes(marker) ? { marker } : {}) };
}

/** The documents of a kubeadm configuration that kubeadm writes into kubeadm-config and kubelet-config. */
export const settingsIn = ({ data }: ReceivedScript): string =>
  data
    .split(/^---$/m)
    .filter((text) => /^kind: (Cluster|Kubelet)Configuration$/m.test(text))
    .join("---");
