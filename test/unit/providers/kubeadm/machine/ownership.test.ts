import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { renderShell, shellFile } from "../../../../../providers/kubeadm/machine/shell";

const BACKUP = "/etc/kubernetes/tmp/kubeadm-backup-etcd-1/etcd/member/snap/db";
const MARKER = "/etc/foresail/machine";
const RESET_LOG = "/var/log/foresail/reset.log";
const RESET = "== 2026-01-01T00:00:01.000Z reset ended with 0\n";

describe("the ownership of a machine", () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), "foresail-ownership-"));
    mkdirSync(path.join(root, "etc/foresail"), { recursive: true });
  });
  afterEach(() => rmSync(root, { recursive: true }));

  /** Writes a file of the machine, so many seconds ago. */
  function put(file: string, content: string, secondsAgo = 0): void {
    const where = path.join(root, file);
    mkdirSync(path.dirname(where), { recursive: true });
    writeFileSync(where, content);
    const at = Date.now() / 1000 - secondsAgo;
    for (let each = where; each !== root; each = path.dirname(each)) utimesSync(each, at, at);
  }

  /** Runs the lines that refuse a machine and claim it, with the machine's root in a folder. */
  function claim(): { status: number | null; words: string } {
    const text = renderShell([shellFile("common/system"), shellFile("common/owner")].join("\n"), {
      MACHINE: "w-1",
      OWNER: "cluster=demo machine=w-1",
    })
      .replaceAll("/etc/", `${root}/etc/`)
      .replaceAll("/var/", `${root}/var/`);
    const script = `set -euo pipefail\n${text}\nrefuse_foreign_machine\nclaim_machine`;
    const { status, stdout } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
    return { status, words: stdout.replaceAll(root, "") };
  }

  const filesIn = (folder: string) => readdirSync(path.join(root, folder));

  it("accepts an empty machine, and its own again", () => {
    assert.equal(claim().status, 0);
    put(BACKUP, "data");
    assert.equal(claim().status, 0);
    assert.deepEqual(filesIn("/etc/kubernetes/tmp"), ["kubeadm-backup-etcd-1"]);
  });

  it("refuses a machine of another cluster, of another name, and one with files of others", () => {
    put(MARKER, "cluster=other machine=w-1\n");
    assert.match(claim().words, /belongs to another foresail cluster.*cluster=other machine=w-1/);
    put(MARKER, "");
    put("/etc/kubernetes/kubelet.conf", "");
    put(RESET_LOG, RESET);
    const { status, words } = claim();
    assert.equal(status, 78);
    assert.match(words, /run there: kubeadm reset --force; rm -rf \/etc\/kubernetes\/\*$/m);
  });

  it("accepts a machine on which an earlier reset left kubeadm's backups, and removes them", () => {
    put(BACKUP, "data", 60);
    put(RESET_LOG, RESET);
    assert.deepEqual(claim(), { status: 0, words: "" });
    assert.deepEqual(filesIn("/etc/kubernetes"), []);
  });

  it("refuses backups of a cluster that foresail did not create, with the command that removes them", () => {
    for (const before of [
      () => put(BACKUP, "data"),
      // reset by foresail once, and upgraded by someone else since
      () => put(RESET_LOG, RESET, 60),
    ]) {
      before();
      const { status, words } = claim();
      assert.equal(status, 78);
      assert.match(words, /run there: rm -rf \/etc\/kubernetes\/tmp$/m);
      assert.deepEqual(filesIn("/etc/kubernetes/tmp"), ["kubeadm-backup-etcd-1"]);
    }
  });
});
