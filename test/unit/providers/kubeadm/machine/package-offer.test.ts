import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { parsePackageOffer } from "../../../../../providers/kubeadm/machine/rollout/package-offer";
import {
  containerdVersions,
  missingPackages,
  type PackageOffer,
} from "../../../../../providers/kubeadm/plan/rollout/package-offers";
import { leaveOut } from "../../../../left-out";
import { ShellMachine } from "./run-shell";

const packagesOf = (versions: readonly string[]) =>
  versions
    .map(
      (version) =>
        `Package: containerd\nVersion: ${version}\nArchitecture: all\nFilename: ./x.deb\nSize: 1\n`,
    )
    .join("\n");

/** A machine with containerd 1.6, whose own lists have 1.6 and whose repository has more, with the real apt. */
function machineWith(repository: readonly string[], uri?: string): ShellMachine {
  const machine = new ShellMachine();
  const place = (file: string) => machine.path(file);
  machine.write("/run/.keep", "");
  machine.write("/repository/Packages", packagesOf(repository));
  machine.write("/own/lists/partial/.keep", "");
  machine.write("/own/cache/archives/partial/.keep", "");
  machine.write("/own/status", "");
  machine.write("/own/sources.list", `deb [trusted=yes] ${uri ?? `file:${place("/repository")}`} ./\n`);
  const settings = {
    "Dir::Etc::sourcelist": place("/own/sources.list"),
    "Dir::Etc::sourceparts": "/nonexistent",
    "Dir::Etc::preferencesparts": "/nonexistent",
    "Dir::State::status": place("/own/status"),
    "Dir::State::lists": place("/own/lists"),
    "Dir::Cache": place("/own/cache"),
    "APT::Sandbox::User": "root",
    "APT::Update::Pre-Invoke::": `touch ${place("/own/hook")}`,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";`);
  machine.write("/own/apt.conf", `${lines.join("\n")}\n`);
  for (const program of ["apt-get", "apt-cache"])
    machine.program(program, `APT_CONFIG=${place("/own/apt.conf")} exec /usr/bin/${program} "$@"`);
  machine.program(
    "dpkg-query",
    `case "$*" in *Status*) echo "installed, containerd, " ;; *) printf 1.6 ;; esac`,
  );
  return machine;
}

const ask = (machine: ShellMachine, version: string): PackageOffer => {
  const { stdout, stderr } = machine.step(
    "rollout/package-offer",
    { VERSION: version, IMAGE_REPOSITORY: "", PROXY: [], SECONDS_TO_FETCH: 20 },
    ["common/software"],
  );
  assert.equal(stderr, "");
  return parsePackageOffer(stdout);
};

describe("a version of containerd", function () {
  this.timeout(60_000);
  before(function () {
    if (!existsSync("/usr/bin/apt-get")) leaveOut(this, "needs apt");
  });

  it("is offered if the repository has it, though the machine's own lists are older", () => {
    const machine = machineWith(["1.6", "1.7.24~ds1-1"]);
    assert.deepEqual(ask(machine, "1.7.24~ds1-1"), { kind: "offered" });
  });

  it("is offered if it is installed, whatever repositories have", () => {
    assert.deepEqual(ask(machineWith([]), "1.6"), { kind: "offered" });
  });

  it("is missing if the repository has others, and nothing is written on the machine", () => {
    const machine = machineWith(["1.6", "1.7.24~ds1-1"]);
    assert.deepEqual(ask(machine, "9.9.9"), {
      kind: "missing",
      package: "containerd",
      versions: ["1.7.24~ds1-1", "1.6"],
    });
    assert.equal(existsSync(machine.path("/own/hook")), false);
    assert.deepEqual(readdirSync(machine.path("/own/lists")), ["partial"]);
    assert.deepEqual(readdirSync(machine.path("/own/cache")), ["archives"]);
    assert.deepEqual(readdirSync(machine.path("/run")), [".keep"]);
  });

  it("is unread if a repository can't be asked", () => {
    const offer = ask(machineWith([], "http://127.0.0.1:1"), "9.9.9");
    assert.ok(offer.kind === "unread");
    assert.match(offer.why, /^apt-get update: .*127\.0\.0\.1/);
  });

  it("is asked for where a step changes it", () => {
    const software = [{ name: "containerd", from: "1.6", to: "1.7" }];
    const versions = containerdVersions([
      { kind: "upgrade", machine: "w-1", to: "1.36.3", how: "the node agent changes it", software },
      { kind: "upgrade", machine: "w-2", from: "1.35.4", to: "1.36.3", how: "kubeadm upgrade node" },
      { kind: "finish", machine: "w-3", to: "1.36.3" },
    ]);
    assert.deepEqual([...versions], [["w-1", "1.7"]]);
  });

  it("is refused once for the machines whose repositories have the same", () => {
    const missing = (versions: string[]): PackageOffer => ({
      kind: "missing",
      package: "containerd.io",
      versions,
    });
    const offers = new Map<string, PackageOffer>([
      ["w-1", missing(["1.7", "1.6"])],
      ["w-2", { kind: "offered" }],
      ["w-3", missing(["1.7", "1.6"])],
      ["w-4", missing([])],
      ["w-5", { kind: "unread", why: "no route" }],
    ]);
    assert.deepEqual(missingPackages(offers, "9.9.9"), [
      "no apt repository of w-1, w-3 has containerd.io 9.9.9; they have 1.7, 1.6. Write one of these, or add a repository that has it",
      "no apt repository of w-4 has containerd.io 9.9.9; they have no version of it. Add a repository that has it",
    ]);
  });
});
