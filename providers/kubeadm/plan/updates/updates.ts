import { plural } from "../../../../lib/text/plural";
import { displayLine } from "../../../../lib/text/display";

/** What a step says of reboots. */
export const REBOOTS = [
  "no reboot",
  "reboot if the machine asks for it",
  "reboot, since the machine asks for it",
] as const;

/** Which updates of the operating system a rollout installs, and whether it reboots. */
export interface UpdateSettings {
  /** Only those of the distribution's archive of security updates. */
  security: boolean;
  reboot: "whenRequired" | "never";
}

/** The pending updates of a machine, as its node agent reports them. */
export interface PendingUpdates {
  /** Short hash of their list, by which they are asked for; absent when nothing is pending. */
  hash?: string;
  /** The hash of what was installed last. */
  completed?: string;
  count: number;
  /** Whether the machine reboots for them: new packages may ask for it, and only then is it known. */
  reboot: (typeof REBOOTS)[number];
  /** As many of them as the report has room for: "openssl=3.0.15-1". */
  packages: string[];
}

/** A report, or why the agent could not read what is pending. */
export type UpdateReport = PendingUpdates | { unread: string };

/** Version of the updates on a node that has not installed what is asked for. */
export const NO_UPDATES = "none";

/** The longest report that an agent writes, in characters. */
const LONGEST = 1200;
const HASH = "[0-9a-f]{12}";
const REPORT = new RegExp(
  `^(none|${HASH}) (-|${HASH}) (\\d{1,5}) (reboot|never|-)((?: [a-z0-9][a-z0-9+.:-]*=[0-9A-Za-z.+:~-]+)*)$`,
);
const REBOOT_OF = {
  never: "no reboot",
  "-": "reboot if the machine asks for it",
  reboot: "reboot, since the machine asks for it",
} as const satisfies Record<string, (typeof REBOOTS)[number]>;
const UNREAD = "unread ";

/** Parses an agent's report. Returns undefined for anything else: the text is from outside. */
export function parseUpdates(text: string | undefined): UpdateReport | undefined {
  if (text === undefined || text.length > LONGEST) return undefined;
  if (text.startsWith(UNREAD)) return { unread: displayLine(text.slice(UNREAD.length)) };
  const [, hash = "", completed = "", count = "", reboot, packages = ""] = REPORT.exec(text) ?? [];
  if (reboot === undefined) return undefined;
  return {
    ...(hash === NO_UPDATES ? {} : { hash }),
    ...(completed === "-" ? {} : { completed }),
    count: Number(count),
    reboot: REBOOT_OF[reboot as keyof typeof REBOOT_OF],
    packages: packages.split(" ").slice(1),
  };
}

/** Returns the name under which the installer of updates is staged; it tells which updates it lists. */
export function stagedUpdates(settings: UpdateSettings | undefined): Record<string, string> {
  if (settings === undefined) return {};
  const which = settings.security ? "security" : "all";
  return { "os-updates": settings.reboot === "never" ? `${which}-without-reboot` : which };
}

/** Returns the hash that asks a machine for its pending updates; undefined when there is nothing to install. */
export function dueUpdates(report: UpdateReport | undefined): string | undefined {
  if (report === undefined || "unread" in report) return undefined;
  // a machine may ask for a reboot still after it
  return report.hash === report.completed ? undefined : report.hash;
}

/**
 * Returns what a node is asked for in a run.
 *
 * @param previewed the hash that the preview listed for it
 * @param asked by the Node's annotation
 */
export function requestedUpdates(
  report: UpdateReport | undefined,
  previewed: string | undefined,
  asked: string | undefined,
): string | undefined {
  const isDone = previewed !== asked && report !== undefined && !("unread" in report);
  return isDone && report.completed === previewed ? undefined : previewed;
}

/** Returns the version of a machine's updates: what it is asked for once that is installed. */
export const updatesVersion = (report: UpdateReport | undefined, asked: string | undefined): string =>
  asked !== undefined && report !== undefined && !("unread" in report) && report.completed === asked
    ? asked
    : NO_UPDATES;

/** Lists the updates for a line: "openssl 3.0.15-1, libssl3 3.0.15-1 and 12 others". */
export function listedUpdates({ packages, count }: PendingUpdates): string {
  const named = packages.map((one) => one.replace("=", " ")).join(", ");
  const others = count - packages.length;
  if (others <= 0) return named;
  return named === "" ? plural(others, "package") : `${named} and ${plural(others, "other")}`;
}
