import { plural } from "../../../../lib/text/plural";
import type { FileDifference } from "../../../../lib/text/unified-diff";

/** What foresail does about files that others change on the machines. */
export type DriftSetting = "report" | "repair";

/** What others changed in the files of one machine, as its node agent reports it. */
export interface Drift {
  /** Short hash of the changed files. */
  hash: string;
  /** Paths of the files. */
  paths: string[];
  /** How many further files the report has no room for. */
  more: number;
}

/** The longest report that an agent writes, in characters. */
const LONGEST = 1200;
const REPORT = /^([0-9a-f]{12})((?: \/[A-Za-z0-9./_@:+=,~-]+)*)(?: \+(\d{1,3}))?$/;

/** Parses an agent's report. Returns undefined for anything else: the text is from outside. */
export function parseDrift(text: string | undefined): Drift | undefined {
  if (text === undefined || text.length > LONGEST) return undefined;
  const [, hash, paths = "", more = "0"] = REPORT.exec(text) ?? [];
  if (hash === undefined) return undefined;
  return { hash, paths: paths.split(" ").slice(1), more: Number(more) };
}

/** Lists the files of a report for a line: "/etc/a, /etc/b and 2 further files". */
export function namedFiles({ paths, more }: Drift): string {
  const named = paths.join(", ");
  if (more === 0) return named;
  return named === "" ? plural(more, "file") : `${named} and ${plural(more, "further file")}`;
}

/** Files with which the kubelet may refuse or evict pods that run. */
const KUBELET_SETTINGS = ["/var/lib/kubelet/config.yaml", "/var/lib/kubelet/kubeadm-flags.env"];

/** Returns whether a repair drains the node: the kubelet gets other settings, or not every file is known. */
export const drainsForRepair = ({ paths, more }: Drift): boolean =>
  more > 0 || paths.some((path) => KUBELET_SETTINGS.includes(path));

/** How a file differs; `access` is its mode or owner alone. */
export const DIFFERENCES = ["changed", "added", "removed", "access"] as const;

/** A file that others changed: `before` is as foresail wrote it, `after` as it is. */
export interface DriftedFile extends FileDifference {
  readonly kind: (typeof DIFFERENCES)[number];
}

/** What a machine answers. */
export type DriftAnswer =
  | { readonly files: readonly DriftedFile[] }
  /** Its agent is older than the reports, or changes the machine now. */
  | { readonly unknown: "unsupported" | "at work" };
