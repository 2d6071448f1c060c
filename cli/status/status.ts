import { displayLine } from "../../lib/text/display";
import { listed } from "../../lib/text/quote";
import { plural } from "../../lib/text/plural";
import {
  daysUntil,
  firstEnd,
  nearEnds,
  renewableEnds,
  type WarningDays,
} from "../../providers/kubeadm/plan/certificates/report";
import { namedFiles } from "../../providers/kubeadm/plan/drift/drift";
import type { RolloutNode } from "../../providers/kubeadm/plan/rollout/observed";

/** What is known of a cluster. */
export interface StatusFacts {
  readonly now: Date;
  readonly cluster: string;
  /** The configured version, and the days before their end at which certificates are named. */
  readonly version: string;
  readonly warningDays: WarningDays;
  /** Names of the configured machines. */
  readonly machines: readonly string[];
  readonly nodes: readonly RolloutNode[];
  /** The control planes, and whether the etcd of each is ready; empty for an etcd elsewhere. */
  readonly etcd: readonly { readonly node: string; readonly ready: boolean }[];
  /** The process that changes the cluster now. */
  readonly holder?: string;
  /** A request to pause. */
  readonly pause?: string;
  /** The last line of the history. */
  readonly last?: string;
}

/** A node in the status. */
export interface NodeStatus {
  readonly name: string;
  readonly role: "control-plane" | "worker";
  readonly version: string;
  readonly ready: boolean;
  readonly cordoned: boolean;
  /** Whether a run has begun to change it. */
  readonly changing: boolean;
  /** When the first certificate ends that is not renewed by itself; absent where none is reported. */
  readonly certificatesEnd?: string;
  readonly drift?: string;
}

/** The state of a cluster, as `foresail status` prints it. */
export interface StatusReport {
  readonly cluster: string;
  readonly version: string;
  readonly nodes: readonly NodeStatus[];
  readonly etcd: { readonly members: number; readonly ready: number };
  readonly holder?: string;
  readonly pause?: string;
  readonly last?: string;
  /** What needs attention, one sentence each. */
  readonly problems: readonly string[];
}

/** Returns the state of a cluster, with what needs attention in it. */
export function clusterStatus(facts: StatusFacts): StatusReport {
  const { cluster, version, etcd, holder, pause, last } = facts;
  const nodes = facts.nodes
    .filter(({ name }) => facts.machines.includes(name))
    .sort((one, other) => facts.machines.indexOf(one.name) - facts.machines.indexOf(other.name));
  return {
    cluster,
    version,
    nodes: nodes.map(nodeStatus),
    etcd: { members: etcd.length, ready: etcd.filter(({ ready }) => ready).length },
    ...(holder === undefined ? {} : { holder }),
    ...(pause === undefined ? {} : { pause }),
    ...(last === undefined ? {} : { last }),
    problems: [
      ...missing(facts).map((name) => `${name}: it is configured and has no Node`),
      ...nodes.flatMap((node) => problemsOf(node, facts)),
      ...etcd.filter(({ ready }) => !ready).map(({ node }) => `${node}: its member of etcd is not ready`),
    ].map((line) => displayLine(line)),
  };
}

const missing = ({ machines, nodes }: StatusFacts) =>
  machines.filter((machine) => !nodes.some(({ name }) => name === machine));

function nodeStatus(node: RolloutNode): NodeStatus {
  const { name, controlPlane, kubeletVersion, ready, unschedulable, changesAllowed, certificates, drift } =
    node;
  const end = certificates && firstEnd(renewableEnds(certificates));
  return {
    name,
    role: controlPlane ? "control-plane" : "worker",
    version: kubeletVersion,
    ready,
    cordoned: unschedulable,
    changing: changesAllowed,
    ...(end === undefined ? {} : { certificatesEnd: end }),
    ...(drift ? { drift: namedFiles(drift) } : {}),
  };
}

function problemsOf(node: RolloutNode, { now, version, warningDays: days, holder }: StatusFacts): string[] {
  const { name, ready, reason, kubeletVersion, changesAllowed, message, certificates, drift } = node;
  const near = certificates && nearEnds(certificates, { days, now, isRenewed: false });
  const ended = near && near.days < 0 ? "ended" : "end";
  return [
    ...(ready ? [] : [`${name}: not Ready: ${reason ?? "the kubelet has not reported"}`]),
    ...(kubeletVersion === version ? [] : [`${name}: runs ${kubeletVersion}, and ${version} is configured`]),
    ...(changesAllowed && holder === undefined
      ? [`${name}: an interrupted run has begun to change it; run \`up\` again`]
      : []),
    ...(message ? [`${name}: the last failure of its node agent: ${message}`] : []),
    ...(near ? [`${name}: certificates ${ended} on ${near.ends.slice(0, 10)}: ${listed(near.names)}`] : []),
    ...(drift ? [`${name}: differs from what foresail wrote: ${namedFiles(drift)}`] : []),
  ];
}

/** Returns the lines of a status for a terminal. */
export function statusLines(status: StatusReport, now: Date): string[] {
  const rows = status.nodes.map((node) => [
    node.name,
    node.role,
    node.version,
    [
      node.ready ? "Ready" : "not Ready",
      ...(node.cordoned ? ["cordoned"] : []),
      ...(node.changing ? ["changing"] : []),
    ].join(", "),
    node.certificatesEnd === undefined
      ? "-"
      : `${node.certificatesEnd.slice(0, 10)} (${plural(Math.max(0, daysUntil(node.certificatesEnd, now)), "day")})`,
    node.drift === undefined ? "-" : "yes",
  ]);
  const { members, ready } = status.etcd;
  return [
    `${status.cluster}, Kubernetes ${status.version}`,
    "",
    ...table([["NODE", "ROLE", "VERSION", "STATUS", "CERTIFICATES END", "DRIFT"], ...rows]),
    "",
    `etcd: ${ready} of ${plural(members, "member")} ready`,
    status.holder === undefined
      ? "no run changes the cluster"
      : `changed now by ${displayLine(status.holder)}`,
    ...(status.pause === undefined ? [] : [`a pause was requested: ${displayLine(status.pause)}`]),
    ...(status.last === undefined ? [] : [`last change: ${displayLine(status.last)}`]),
    "",
    ...(status.problems.length === 0
      ? ["nothing needs attention"]
      : [`${plural(status.problems.length, "problem")}:`, ...status.problems.map((line) => `  ${line}`)]),
  ];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => displayLine(row[column] ?? "").length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => displayLine(cell).padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
