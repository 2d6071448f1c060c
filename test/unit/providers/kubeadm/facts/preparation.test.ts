import assert from "node:assert/strict";
import {
  isLeftOf,
  OLDER_LISTS,
  parseChanges,
  preparationOf,
} from "../../../../../providers/kubeadm/plan/facts/preparation";
import { preparationSteps } from "../../../../../providers/kubeadm/plan/steps";
import { exampleSpecification } from "../machine/examples";

const PACKAGES = { packages: { repository: "https://packages.example.com/v{minor}/deb/" } };

const asked = (facts: Record<string, string>, source?: typeof PACKAGES) => ({
  machine: { name: "w-1", role: "worker" as const },
  podNetwork: "bridge" as const,
  specification: exampleSpecification(source === undefined ? {} : { source }),
  reading: { at: 0, facts: new Map(Object.entries(facts)) },
});

const FULL = {
  due: [
    "begin",
    ...["package containerd", "package socat", "program kubeadm", "program kubelet"],
    ...["module overlay", "setting net.ipv4.ip_forward = 1", "swap /dev/sda2"],
    ...["file /etc/b", "file /etc/a", "file /etc/a", "replaced /etc/c", "removed /etc/d", "other words"],
  ].join("\n"),
  packages: "containerd 2.2.1-1\nsocat ",
  packageLists: "current",
};

const LINES = [
  "w-1: write /etc/a, /etc/b",
  "w-1: replace /etc/c",
  "w-1: remove /etc/d",
  "w-1: load the kernel modules overlay",
  "w-1: set for the kernel net.ipv4.ip_forward = 1",
  "w-1: turn swap off, now and in /etc/fstab: /dev/sda2",
  "w-1: install from its distribution containerd 2.2.1-1, socat",
  "w-1: install kubeadm, kubelet 1.36.3 from the bundle",
];

const CASES: { name: string; facts: Record<string, string>; source?: typeof PACKAGES; lines: string[] }[] = [
  { name: "a machine that did not tell it", facts: { clock: "1" }, lines: [] },
  { name: "a machine on which nothing is due", facts: { due: "begin" }, lines: [] },
  { name: "a new machine", facts: FULL, lines: LINES },
  {
    name: "a machine whose lists of packages are older",
    facts: { due: "begin\npackage socat", packages: "socat 1.8" },
    lines: [`w-1: install from its distribution socat 1.8${OLDER_LISTS}`],
  },
  {
    name: "a repository that has the version twice",
    facts: {
      due: "begin\nprogram kubeadm",
      repositoryVersions: "kubeadm 1.36.3-1.1\nkubeadm 1.36.3-2.1\nkubeadm 1.37.0-1.1",
    },
    source: PACKAGES,
    lines: ["w-1: install kubeadm 1.36.3-2.1 from the Kubernetes repository"],
  },
  {
    name: "a machine whose packages ask for a reboot",
    facts: { due: "begin", reboot: "*** System restart required ***" },
    lines: ["w-1: reboot, since its packages ask for it"],
  },
  {
    name: "a bundle that is to be downloaded, to a machine with programs of the same names",
    facts: { due: "begin\nbundle 0a1b\nprogram kubectl\nunsure kubeadm\nunsure kubelet" },
    lines: [
      "w-1: download the bundle with the SHA-256 0a1b",
      "w-1: install kubectl 1.36.3 from the bundle",
      "w-1: install kubeadm, kubelet 1.36.3 from the bundle where they differ, which only its download tells",
    ],
  },
  {
    name: "a container, which has no kernel to restart",
    facts: { due: "begin", reboot: "yes", container: "yes" },
    lines: [],
  },
];

describe("what a preparation changes", () => {
  for (const { name, facts, source, lines } of CASES)
    it(`is listed for ${name}, and each line is read back`, () => {
      const steps = preparationOf(asked(facts, source));
      assert.deepEqual(steps.map(preparationSteps.format), lines);
      assert.deepEqual(
        lines.map((line) => preparationSteps.parse(line)),
        steps,
      );
    });

  it("is parsed from the log in the same form, without control characters", () => {
    assert.deepEqual(
      parseChanges(["package containerd 2.2.1-1", "file /etc/a\u001b[2J", "nothing"]).length,
      2,
    );
    assert.doesNotMatch(JSON.stringify(parseChanges(["file /etc/a\u001b[2J"])), /u001b/);
  });

  it("lists each of a thousand files, and of what a machine left out the number and the sum", () => {
    const paths = Array.from({ length: 1000 }, (_, at) => `/etc/own/${String(at).padStart(4, "0")}`);
    const due = ["begin", ...paths.map((path) => `file ${path}`), `more 12 ${"ab".repeat(32)}`].join("\n");
    const lines = preparationOf(asked({ due })).map(preparationSteps.format);
    assert.deepEqual(lines, [
      `w-1: write ${paths.join(", ")}`,
      `w-1: 12 more changes of files, not listed here, whose list has the SHA-256 ${"ab".repeat(32)}`,
    ]);
  });

  it("is bound by the sum of what is not listed", () => {
    const more = { kind: "moreChanges", machine: "w-1", changes: 12, sum: "a" } as const;
    assert.equal(isLeftOf(more, more), true);
    assert.equal(isLeftOf({ ...more, sum: "b" }, more), false);
  });

  it("is bound by the sum of the bundle, and by the version and the programs that may differ", () => {
    const bundle = { kind: "downloadBundle", machine: "w-1", sum: "a" } as const;
    assert.equal(isLeftOf(bundle, bundle), true);
    assert.equal(isLeftOf({ ...bundle, sum: "b" }, bundle), false);
    const programs = ["kubeadm", "kubelet"];
    const whole = { kind: "installDiffering", machine: "w-1", version: "1.36.3", programs } as const;
    assert.equal(isLeftOf({ ...whole, programs: ["kubelet"] }, whole), true);
    assert.equal(isLeftOf({ ...whole, programs: ["kubectl"] }, whole), false);
    assert.equal(isLeftOf({ ...whole, version: "1.36.4" }, whole), false);
  });

  it("is left of packages in a reviewed revision, when the machine does not say it again", () => {
    const source = "the Kubernetes repository" as const;
    const whole = {
      kind: "installPrograms",
      machine: "w-1",
      version: "1.36.3-1.1",
      programs: ["kubelet"],
      source,
    } as const;
    assert.equal(isLeftOf({ ...whole, version: "1.36.3" }, whole), true);
    assert.equal(isLeftOf({ ...whole, version: "1.36.3-2.1" }, whole), false);
    assert.equal(isLeftOf({ ...whole, version: "1.36" }, whole), false);
  });

  it("is left of a bundle whose download told which programs differ", () => {
    const programs = ["kubeadm", "kubelet"];
    const whole = { kind: "installDiffering", machine: "w-1", version: "1.36.3", programs } as const;
    const now = { ...whole, kind: "installPrograms", source: "the bundle", programs: ["kubelet"] } as const;
    assert.equal(isLeftOf(now, whole), true);
    assert.equal(isLeftOf({ ...now, programs: ["kubectl"] }, whole), false);
    assert.equal(isLeftOf({ ...now, version: "1.36.4" }, whole), false);
  });
});
