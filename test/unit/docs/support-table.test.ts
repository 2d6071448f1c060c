import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { SYSTEM_NAMES } from "../../../providers/kubeadm/plan/cluster/systems";
import { describeKind, DEFAULT_KIND, type NodeKind } from "../../../sandbox/nodes/node-kinds";
import { KUBERNETES_VERSION } from "../../../sandbox/systems/ssh-configuration";
import { PROJECT } from "./project";

interface Row {
  readonly systems: readonly string[];
  readonly containerd: string;
  readonly minors: string;
  readonly state: string;
}

/** The rows of the README's table of systems; "Ubuntu 22.04, 24.04" names two. */
function tableRows(): Row[] {
  const [, section = ""] = readFileSync(path.join(PROJECT, "README.md"), "utf8").split(
    "\n## Where it runs\n",
  );
  const lines = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) => {
    const [systems = "", containerd = "", minors = "", state = ""] = line
      .split("|")
      .slice(1)
      .map((cell) => cell.trim());
    const [name = ""] = systems.split(" ");
    const releases = systems.slice(name.length).split(",");
    return { systems: releases.map((release) => `${name} ${release.trim()}`), containerd, minors, state };
  });
}

/** The text of all files of a tier. */
const tierText = (tier: string) =>
  readdirSync(path.join(PROJECT, "test", tier))
    .map((file) => readFileSync(path.join(PROJECT, "test", tier, file), "utf8"))
    .join("\n");

/** Kinds that tests of a tier, or the sites that they use, name. */
function namedKinds(text: string): NodeKind[] {
  const kinds = text.matchAll(/\{ system: "(debian-1[23])"(?:, containerd: "(2\.[24])")? \}/g);
  return [...kinds].map(([, system, containerd]) => ({ system, containerd }) as NodeKind);
}

describe("the README's table of systems", () => {
  const rows = tableRows();
  const named = namedKinds(["e2e", "rollout", "sites"].map(tierText).join("\n"));
  const tested = [DEFAULT_KIND, ...named].map(describeKind);

  it("has every supported system, and no other", () =>
    assert.deepEqual(
      [...new Set(rows.flatMap(({ systems }) => systems))].sort(),
      SYSTEM_NAMES.split(", ").sort(),
    ));

  it("calls tested exactly the kinds of nodes that tests make", () => {
    const kinds = rows
      .filter(({ state }) => state === "tested")
      .map(({ systems, containerd }) => {
        const system = systems.join().toLowerCase().replace(" ", "-");
        return containerd.endsWith("its own package") ? system : `${system} with containerd ${containerd}`;
      });
    assert.deepEqual(kinds.sort(), [...new Set(tested)].sort());
    for (const { state } of rows) assert.match(state, /^(tested|expected)$/);
  });

  it("calls tested only the minors that tests run by day", () => {
    const [, to = ""] = /const TO = "(1\.\d+)/.exec(tierText("rollout")) ?? [];
    const versions = [KUBERNETES_VERSION, to].map((version) => version.split(".").slice(0, 2).join("."));
    for (const { state, minors } of rows)
      if (state === "tested")
        for (const minor of minors.split(", ")) assert.ok(versions.includes(minor), minor);
  });
});
