import { isDeepStrictEqual } from "node:util";
import { printable } from "../../../../lib/text/quote";
import { sourceOfVersion } from "../cluster/specification";
import type { PreparationStep } from "../steps";
import { type AskedMachine, factOf, isContainer, linesOf } from "./machine-reading";

/** Kinds of changes, as common/preparation.sh notes them. */
const KINDS = [
  "bundle",
  "file",
  "module",
  "more",
  "package",
  "program",
  "removed",
  "replaced",
  "setting",
  "swap",
  "unsure",
] as const;
export type ChangeKind = (typeof KINDS)[number];

/** A change of a preparation: what it is of, and for packages and programs the version. */
export interface Change {
  readonly kind: ChangeKind;
  readonly what: string;
}

/** Parses lines "KIND WORDS", as a machine tells them before its preparation, and its log after it. */
export function parseChanges(lines: readonly string[]): Change[] {
  return lines.flatMap((line) => {
    const [, word, what = ""] = /^(\w+) (.+)$/.exec(line) ?? [];
    const kind = KINDS.find((each) => each === word);
    return kind === undefined ? [] : [{ kind, what: printable(what) }];
  });
}

/**
 * Returns what the preparation of a machine would change if it ran now, in its order; nothing for a machine that did not say it.
 * The versions of packages are those of its lists of packages.
 */
export function preparationOf(asked: AskedMachine): PreparationStep[] {
  if (factOf(asked, "due") === undefined) return [];
  const versions = new Map(linesOf(asked, "packages").map((line) => line.split(" ") as [string, string]));
  const offered = linesOf(asked, "repositoryVersions").map((line) => line.split(" ") as [string, string?]);
  const { source, version } = asked.specification;
  const isBundle = "bundle" in sourceOfVersion(source, version);
  const ofVersion = ([name, each = ""]: [string, string?]) => each.startsWith(`${version}-`) && name;
  const changes = parseChanges(linesOf(asked, "due")).map(({ kind, what }): Change => {
    if (kind === "package") return { kind, what: `${what} ${printable(versions.get(what) ?? "")}`.trim() };
    if (kind === "unsure") return { kind, what: `${what} ${version}` };
    if (kind !== "program") return { kind, what };
    const found = offered.filter((each) => ofVersion(each) === what).at(-1)?.[1];
    return { kind, what: `${what} ${isBundle ? version : printable(found ?? version)}` };
  });
  const isOlder = factOf(asked, "packageLists") !== "current";
  const reboots = factOf(asked, "reboot") !== undefined && !isContainer(asked);
  return [
    ...stepsOfChanges(asked.machine.name, changes, { isBundle, isOlder }),
    ...(reboots ? [{ kind: "rebootFirst", machine: asked.machine.name } as const] : []),
  ];
}

/** Returns changes as the lines of a preview. @param isOlder whether the packages' lists may be older than the repository's */
export function stepsOfChanges(
  machine: string,
  changes: readonly Change[],
  { isBundle, isOlder }: { isBundle: boolean; isOlder: boolean },
): PreparationStep[] {
  const of = (kind: ChangeKind) =>
    changes.filter((change) => change.kind === kind).map(({ what }) => what.trim());
  const list = (kind: ChangeKind) => [...new Set(of(kind))].sort().join(", ");
  const packages = list("package");
  const programsOf = (kind: ChangeKind) => {
    const named = of(kind).map((each) => each.split(" "));
    const version = named[0]?.[1];
    return version === undefined
      ? undefined
      : { machine, version, programs: named.map(([name = ""]) => name) };
  };
  const [programs, unsure] = [programsOf("program"), programsOf("unsure")];
  const steps: (PreparationStep | undefined)[] = [
    some(list("file"), (files) => ({ kind: "writeFiles", machine, files })),
    some(list("replaced"), (files) => ({ kind: "replaceFiles", machine, files })),
    some(list("removed"), (files) => ({ kind: "removeFiles", machine, files })),
    some(list("module"), (modules) => ({ kind: "loadModules", machine, modules })),
    some(list("setting"), (settings) => ({ kind: "setKernel", machine, settings })),
    some(list("swap"), (devices) => ({ kind: "swapOff", machine, devices })),
    some(packages, (names) => ({
      kind: "installPackages",
      machine,
      packages: `${names}${isOlder ? OLDER_LISTS : ""}`,
    })),
    some(list("bundle"), (sum) => ({ kind: "downloadBundle", machine, sum })),
    programs && {
      kind: "installPrograms",
      ...programs,
      source: isBundle ? "the bundle" : "the Kubernetes repository",
    },
    unsure && { kind: "installDiffering", ...unsure },
    ...of("more").map((words): PreparationStep => {
      const [lines, sum = ""] = words.split(" ");
      return { kind: "moreChanges", machine, changes: Number(lines), sum };
    }),
  ];
  return steps.flatMap((step) => step ?? []);
}

/** How a line says that the versions may be newer when they are installed. */
export const OLDER_LISTS = "; or newer ones, since its lists of packages are read again";

/** Returns whether a step is what is left of another one after a run that was interrupted. */
export function isLeftOf(now: PreparationStep, whole: PreparationStep): boolean {
  if (now.machine !== whole.machine) return false;
  if (now.kind === "installPrograms")
    return (
      (whole.kind === "installDiffering" ||
        (whole.kind === "installPrograms" && now.source === whole.source)) &&
      // an interrupted preparation is not asked for the revision of packages
      (now.version === whole.version || whole.version.startsWith(`${now.version}-`)) &&
      now.programs.every((program) => whole.programs.includes(program))
    );
  if (now.kind === "installDiffering")
    return (
      whole.kind === now.kind &&
      now.version === whole.version &&
      now.programs.every((program) => whole.programs.includes(program))
    );
  // only its sum says what it is
  if (now.kind === "moreChanges" || now.kind === "downloadBundle") return isDeepStrictEqual(now, whole);
  const mayBeNewer = whole.kind === "installPackages" && whole.packages.endsWith(OLDER_LISTS);
  const all = itemsOf(whole, mayBeNewer);
  return now.kind === whole.kind && itemsOf(now, mayBeNewer).every((item) => all.includes(item));
}

/** Returns what a step lists. @param isByName whether packages count without their versions */
function itemsOf(step: PreparationStep, isByName: boolean): string[] {
  if ("files" in step) return step.files.split(", ");
  if ("modules" in step) return step.modules.split(", ");
  if ("settings" in step) return step.settings.split(", ");
  if ("devices" in step) return step.devices.split(", ");
  if (!("packages" in step)) return [];
  const packages = step.packages.replace(OLDER_LISTS, "").split(", ");
  return isByName ? packages.map((each) => each.split(" ")[0] ?? "") : packages;
}

const some = (words: string, step: (words: string) => PreparationStep): PreparationStep | undefined =>
  words === "" ? undefined : step(words);
