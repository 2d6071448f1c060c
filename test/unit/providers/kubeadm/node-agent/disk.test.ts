import assert from "node:assert/strict";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { AgentMachine } from "./agent-machine";

const KEYS = annotationKeys();
const TMP = "/etc/kubernetes/tmp";
const copyOf = (day: number) => `${TMP}/kubeadm-backup-etcd-2026-11-0${day}-10-00-00/member`;
const ETCD = "spec:\n  containers:\n  - command:\n    - etcd\n    - --data-dir=/var/lib/etcd-data\n";

describe("the node agent and the disk", function () {
  this.timeout(120_000);
  let machine: AgentMachine;
  const open = (options?: ConstructorParameters<typeof AgentMachine>[0]) =>
    (machine = new AgentMachine(options));
  afterEach(() => machine?.remove());

  /** What df says: MiB that are free under a path that contains these words, else plenty. */
  const freeSpace = (words: string, mebibytes: number) =>
    machine.useScript("df", [
      'free=99999; case "${*: -1}" in',
      `*${words}*) free=${mebibytes} ;;`,
      'esac; printf "Avail Mounted\\n%s %s\\n" "$free" "${*: -1}"',
    ]);

  it("keeps only the newest copy of etcd after an upgrade, and files that kubeadm did not leave", () => {
    open({ controlPlane: true });
    for (const day of [1, 2, 3]) machine.put(copyOf(day), "x");
    const others = [`${TMP}/kubeadm-backup-etcd-mine/member`, `${TMP}/kubeadm-backup-manifests-2026/a`];
    for (const other of others) machine.put(other, "x");
    machine.run("--once");
    assert.ok(machine.exists(copyOf(1)), "a copy was removed without an upgrade");
    machine.setDesired("1.36.3");
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    assert.deepEqual(
      [1, 2, 3].map((day) => machine.exists(copyOf(day))),
      [false, false, true],
    );
    for (const other of others) assert.ok(machine.exists(other), other);
  });

  it("leaves at most one copy before each attempt of an upgrade that fails", () => {
    open({ controlPlane: true });
    for (const day of [1, 2, 3]) machine.put(copyOf(day), "x");
    machine.setDesired("1.36.3");
    machine.fail("kubeadm upgrade apply", "etcdserver: request timed out", 100);
    assert.notEqual(machine.run("--once").status, 0);
    assert.deepEqual(
      [1, 2, 3].map((day) => machine.exists(copyOf(day))),
      [false, false, true],
    );
  });

  it("reports a full disk with the size of etcd's data, and takes the report back", () => {
    open({ controlPlane: true });
    machine.put("/etc/kubernetes/manifests/etcd.yaml", ETCD);
    machine.put("/var/lib/etcd-data/member/snap/db", "x".repeat(5 * 2 ** 20));
    freeSpace("/etc/kubernetes", 4);
    machine.run("--once");
    assert.match(
      machine.annotations[KEYS.shortage] ?? "",
      /\/etc\/kubernetes has 4 MiB free, an upgrade needs [56] MiB$/,
    );
    assert.equal(machine.annotations[KEYS.ready], "true");
    freeSpace("/etc/kubernetes", 40);
    machine.run("--once");
    assert.equal(machine.annotations[KEYS.shortage], undefined);
  });

  it("refuses an upgrade before its first change when the disk is too full, and not one that it has begun", () => {
    open({ cluster: "1.36.3" });
    freeSpace("/usr", 10);
    machine.setDesired("1.36.3");
    assert.notEqual(machine.run("--once").status, 0);
    assert.match(machine.annotations[KEYS.message] ?? "", /^too little free space: .*\/usr has 10 MiB free/);
    assert.deepEqual(
      machine.changes.filter((change) => !change.startsWith("annotate")),
      [],
    );
    machine.put("/var/lib/foresail/agent/unfinished", "yes");
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.annotations[KEYS.current("kubelet")], "v1.36.3");
  });
});
