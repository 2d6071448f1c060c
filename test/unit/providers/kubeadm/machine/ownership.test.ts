import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { renderShell, shellFile } from "../../../../../providers/kubeadm/machine/shell";

const BACKUP = "/etc/kubernetes/tmp/kubeadm-backup-etcd-1/etcd/member/snap/db";
const MARKER = "/etc/foresail/machine";
const STAGING = { OWNER_ID: "9a1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42", OWNER_STACK: "org/shop/staging" };
const PROD = { OWNER_ID: "0b9e2d11-6a3f-4c2b-8d57-1f1f3f0a7c3d", OWNER_STACK: "org/shop/prod" };
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
  function claim(owner: Record<string, string> = {}): { status: number | null; words: string } {
    const text = renderShell([shellFile("common/system"), shellFile("common/owner")].join("\n"), {
      MACHINE: "w-1",
      OWNER: "cluster=demo machine=w-1",
      ...{ OWNER_ID: "", OWNER_STACK: "", TAKE_OVER: "", ...owner },
    })
      .replaceAll("/etc/", `${root}/etc/`)
      .replaceAll("/var/", `${root}/var/`);
    const script = `set -euo pipefail\n${text}\nrefuse_foreign_machine\nrefuse_unnamed_owner\nclaim_machine`;
    const { status, stdout } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
    return { status, words: stdout.replaceAll(root, "") };
  }

  const mark = () => readFileSync(path.join(root, MARKER), "utf8");
  const filesIn = (folder: string) => readdirSync(path.join(root, folder));

  it("accepts an empty machine, and its own again", () => {
    assert.equal(claim().status, 0);
    put(BACKUP, "data");
    assert.equal(claim().status, 0);
    assert.deepEqual(filesIn("/etc/kubernetes/tmp"), ["kubeadm-backup-etcd-1"]);
  });

  it("refuses a machine with a dot in its name that another stack has, and accepts its own again", () => {
    const names = { MACHINE: "w-1.example.com", OWNER: "cluster=demo machine=w-1.example.com" };
    assert.equal(claim({ ...names, ...STAGING }).status, 0);
    assert.equal(claim({ ...names, ...STAGING }).status, 0);
    assert.match(claim({ ...names, ...PROD }).words, /belongs to the stack org\/shop\/staging/);
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

  it("records the stack, and refuses the machine of another one by its identity", () => {
    assert.equal(claim(STAGING).status, 0);
    assert.equal(mark(), `cluster=demo machine=w-1 stack=org/shop/staging id=${STAGING.OWNER_ID}\n`);
    // renamed since
    assert.equal(claim({ ...STAGING, OWNER_STACK: "org/shop/renamed" }).status, 0);
    const before = mark();
    for (const other of [
      PROD,
      {},
      { ...PROD, TAKE_OVER: "unmarked" },
      { ...PROD, TAKE_OVER: PROD.OWNER_ID },
    ]) {
      const { status, words } = claim(other);
      assert.equal(status, 78);
      assert.match(words, /belongs to the stack org\/shop\/renamed \(9a1c.*takeOver: 9a1c/);
    }
    assert.equal(mark(), before);
    assert.equal(claim({ ...PROD, TAKE_OVER: STAGING.OWNER_ID }).status, 0);
    assert.match(mark(), /stack=org\/shop\/prod id=0b9e/);
  });

  it("refuses a mark of an earlier release for a step that must not guess, unless it is taken over", () => {
    put(MARKER, "cluster=demo machine=w-1\n");
    assert.match(claim(STAGING).words, /an earlier release of foresail marked this machine/);
    assert.equal(mark(), "cluster=demo machine=w-1\n");
    assert.equal(claim({ ...STAGING, TAKE_OVER: "unmarked" }).status, 0);
    assert.match(mark(), /id=9a1c/);
  });

  it("refuses a damaged, a huge and a hostile mark, and repeats only what is printable", () => {
    for (const text of [
      "cluster=demo machine=w-1 stack=org/shop/staging",
      `cluster=demo machine=w-1 stack=org/shop/staging id=${"z".repeat(36)}`,
      "x".repeat(100_000),
      "\u001b[2K\u0007gone\0\n\nrm -rf /",
      `cluster=demo machine=w-1 stack=org/shop/staging id=${STAGING.OWNER_ID}\nmore`,
    ]) {
      put(MARKER, text);
      const { status, words } = claim(STAGING);
      assert.equal(status, 78);
      assert.ok(words.length < 700, `${words.length} characters`);
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(words.trimEnd(), /[\u0000-\u001f]/);
      assert.equal(mark(), text);
    }
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
