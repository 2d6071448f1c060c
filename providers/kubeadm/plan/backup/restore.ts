import { durationText } from "../../../../lib/clock";
import { displayLine } from "../../../../lib/text/display";
import { listed } from "../../../../lib/text/quote";
import type { Machine } from "../cluster/machine";
import { NODE_PATHS } from "../cluster/node-paths";
import { describeSnapshot, type SnapshotFacts } from "./backup";

/** What is left of a control plane. */
export type Remains =
  | {
      /** Whether its API server is ready. */
      readonly api: boolean;
      /** The snapshot that an earlier run restored there and did not finish; absent for none. */
      readonly restored?: string;
      /** Whether the machine is one of the cluster: it was neither reset nor reinstalled. */
      readonly prepared: boolean;
      /** Whether etcdutl is there, or an image that has it. */
      readonly programs: boolean;
      /** Size of the largest snapshot for which there is space, in bytes. */
      readonly fits: number;
    }
  | { readonly unreachable: string };

/** A restore as it is shown before it begins. */
export interface RestorePlan {
  readonly machine: Machine;
  /** Control planes that are taken out of service. */
  readonly fenced: readonly Machine[];
  /** Names of all other control planes, whose Nodes go. */
  readonly gone: readonly string[];
  /** Names the snapshot on the machine. */
  readonly snapshot: string;
  /** Whether what an earlier run restored is replaced, too. */
  readonly again: boolean;
  readonly lines: readonly string[];
  readonly refusals: readonly string[];
}

/** What a person knows that machines can't tell. */
interface Given {
  /** Names of machines that will not come back. */
  readonly gone: readonly string[];
  /** Whether a cluster that answers is replaced. */
  readonly discardLiving: boolean;
}

/** Returns the name of a snapshot on a machine. */
const nameOf = ({ cluster, taken, hash }: SnapshotFacts): string => `${cluster} ${taken} ${hash}`;

/**
 * Returns what a restore does on each machine, or why it does nothing.
 *
 * @param remains by name of control plane
 * @param now milliseconds
 */
export function planRestore(
  facts: SnapshotFacts,
  { cluster, stack }: Pick<SnapshotFacts, "cluster" | "stack">,
  machines: readonly Machine[],
  remains: ReadonlyMap<string, Remains>,
  given: Given,
  now: number,
): RestorePlan | { readonly refusals: readonly string[] } {
  const planes = machines.filter(({ role }) => role === "control-plane");
  const machine = planes.find(({ name }) => name === facts.machine);
  if (facts.cluster !== cluster)
    return { refusals: [`it is a snapshot of the cluster ${facts.cluster}, and not of ${cluster}`] };
  if (facts.stack !== stack)
    return {
      refusals: [
        `it is a snapshot of another stack's cluster of that name (${facts.stack || "without identity"})`,
      ],
    };
  if (machine === undefined)
    return { refusals: [`it is a snapshot of ${facts.machine}, which is not a control plane of this stack`] };
  const others = planes.filter(({ name }) => name !== machine.name);
  const isGone = ({ name }: Machine) => given.gone.includes(name);
  const fenced = others.filter((each) => !isGone(each));
  const gone = others.map(({ name }) => name);
  const snapshot = nameOf(facts);
  const age = durationText(now - Date.parse(facts.taken));
  const left = remains.get(machine.name);
  const isRestored = left !== undefined && "restored" in left && left.restored === snapshot;
  const again = isRestored && left.api && given.discardLiving;
  return {
    machine,
    fenced,
    gone,
    snapshot,
    again,
    refusals: [
      ...given.gone
        .filter((name) => !gone.includes(name))
        .map((name) => `--gone ${name}: only another control plane than ${machine.name} can be gone`),
      ...[machine, ...fenced].flatMap((each) =>
        refusalOf(each, machine, remains.get(each.name), snapshot, given),
      ),
      ...others.filter(isGone).flatMap(({ name }) => returnedIssue(name, remains.get(name))),
      ...(isRestored && !again ? [] : unfitIssues(machine.name, left, facts)),
    ],
    lines: [
      `${cluster} goes back to ${facts.taken}, ${age} ago: ${describeSnapshot(facts)}, Kubernetes ${facts.version}`,
      "everything that was changed in the cluster since then is lost; pods that were created since then end",
      ...fenced.map(
        ({ name }) => `${name}: stop its API server and etcd for good; the next \`up\` joins it again`,
      ),
      ...others.filter(isGone).map(({ name }) => `${name}: is gone, and must not come back with what it has`),
      isRestored && !again
        ? `${machine.name}: etcd is restored already, by a run that did not end; start the kubelet, wait until the API server is ready (to restore once more, remove ${NODE_PATHS.restored} there)`
        : `${machine.name}: stop what is left, restore etcd with ${machine.name} as its only member, put /etc/kubernetes back, start the kubelet, wait until the API server is ready`,
      ...(gone.length > 0
        ? [`cluster: delete the ${gone.length === 1 ? "Node" : "Nodes"} ${listed(gone)}`]
        : []),
      "workers: nothing; their kubelets and pods go on, and connect again; one that joined after the snapshot has no Node until its kubelet is restarted",
    ],
  };
}

function refusalOf(
  each: Machine,
  restored: Machine,
  remains: Remains | undefined,
  snapshot: string,
  { discardLiving }: Given,
): string[] {
  if (remains === undefined) return [`${each.name}: was not asked`];
  if ("unreachable" in remains) {
    const why = `${each.name} can't be reached: ${displayLine(remains.unreachable)}`;
    if (each.name === restored.name) return [why];
    return [
      `${why}; it may go on with what the restored cluster does not have: start it, or switch it off for good and give --gone ${each.name}`,
    ];
  }
  const isOwn = each.name === restored.name && remains.restored === snapshot;
  if (!remains.api || isOwn || discardLiving) return [];
  return [
    `the API server of ${each.name} is ready, so the cluster is not lost; to put the snapshot in its place, give --discard-living`,
  ];
}

/** Returns why a machine that is said to be gone is not; one that was reinstalled has nothing of the cluster. */
function returnedIssue(name: string, remains: Remains | undefined): string[] {
  if (remains === undefined || "unreachable" in remains || !remains.prepared) return [];
  return [`${name} answers, so it is not gone; leave out --gone ${name}`];
}

/** Returns why a snapshot can't be restored on its machine, before others are touched for it. */
function unfitIssues(name: string, remains: Remains | undefined, { bytes }: SnapshotFacts): string[] {
  if (remains === undefined || "unreachable" in remains) return [];
  if (!remains.prepared)
    return [`${name}: nothing is prepared on this machine, which was reinstalled or reset since`];
  const mebibytes = (count: number) => `${Math.ceil(count / 2 ** 20)} MiB`;
  return [
    ...(remains.programs
      ? []
      : [
          `no program on ${name} can read a snapshot: install etcdutl, or start containerd and pull the image of etcd`,
        ]),
    ...(bytes <= remains.fits
      ? []
      : [
          `${name}: there is space for a snapshot of ${mebibytes(remains.fits)}, and this one has ${mebibytes(bytes)}; free space on the disks of /var/lib/foresail and of etcd`,
        ]),
  ];
}

/** Reads the answer of restoreFactsScript. */
export function parseRemains(answer: string): Remains {
  const lines = answer.trim().split("\n");
  const valueOf = (name: string) => lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
  const restored = valueOf("restored");
  return {
    api: lines.includes("api"),
    ...(restored === undefined ? {} : { restored }),
    prepared: lines.includes("prepared"),
    programs: lines.includes("programs"),
    fits: Number(valueOf("fits") ?? 0),
  };
}
