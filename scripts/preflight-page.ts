import { DISK_ROWS } from "../providers/kubeadm/plan/facts/disk-rows";
import { LOGIN_ROWS } from "../providers/kubeadm/plan/facts/login-rows";
import type { FactRow } from "../providers/kubeadm/plan/facts/machine-reading";
import { NETWORK_ROWS } from "../providers/kubeadm/plan/facts/network-rows";
import { PORT_ROWS } from "../providers/kubeadm/plan/facts/port-rows";
import { SHARED_ROWS } from "../providers/kubeadm/plan/facts/shared-rows";
import { SOFTWARE_ROWS } from "../providers/kubeadm/plan/facts/software-rows";
import { SYSTEM_ROWS } from "../providers/kubeadm/plan/facts/system-rows";

type Row = Omit<FactRow, "find">;

const SECTIONS: readonly (readonly [title: string, rows: readonly Row[]])[] = [
  ["The way to a machine", LOGIN_ROWS],
  ["The system", SYSTEM_ROWS],
  ["Disks", DISK_ROWS],
  ["Software", SOFTWARE_ROWS],
  ["Network", NETWORK_ROWS],
  ["Ports and firewalls", PORT_ROWS],
  ["Machines compared with each other", SHARED_ROWS],
];

const INTRODUCTION = `# What is read of a machine before it becomes a node

This page is for people who prepare machines, and who got a message about one. It is generated from the table of facts; change the table and run \`npm run docs\`.

A preview reads every machine that is new to the stack, or that will join, over SSH: all in parallel, each in one connection. It only reads: no file, package, unit or process on a
machine changes. A fact marked **refused** fails the preview, and the run too, before anything is written on any machine. A **warning** is a line of the preview. What a machine does not
say is not judged, and a machine that does not answer within a few seconds is named as not asked; the run asks it again. Members of the cluster are not read.

The preparation enforces the most important facts again on the machine, with the same functions and words. On a cloud, the machines are read when they exist, before anything is installed
on any of them.
`;

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function table(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ name, read, needs, level, fix }) =>
      `| ${[name, read, needs, level === "refused" ? "**refused**" : "warning", fix].map(cell).join(" | ")} |`,
  );
  return [
    "| fact | read from | what a node needs | otherwise | what to do |",
    "| --- | --- | --- | --- | --- |",
    ...lines,
  ].join("\n");
}

/** Returns docs/preflight.md: every row of the table of facts. */
export function preflightPage(): string {
  const sections = SECTIONS.map(([title, rows]) => `## ${title}\n\n${table(rows)}`);
  return `${[INTRODUCTION.trimEnd(), ...sections].join("\n\n")}\n`;
}
