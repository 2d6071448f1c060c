import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, linkSync, symlinkSync } from "node:fs";
import { basename } from "node:path";
import { parseDriftAnswer } from "../../../../../providers/kubeadm/machine/drift/drift-steps";
import { parseDrift } from "../../../../../providers/kubeadm/plan/drift/drift";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { AgentMachine } from "./agent-machine";

const KEYS = annotationKeys();
const KUBELET = "/var/lib/kubelet/config.yaml";
const SCHEDULER = "/etc/kubernetes/manifests/kube-scheduler.yaml";
const POLICY = "/etc/audit/policy.yaml";

/** A machine whose agent has looked at its files once. */
function watchedMachine(options: ConstructorParameters<typeof AgentMachine>[0] = {}): AgentMachine {
  const machine = new AgentMachine({ managed: [POLICY], ...options, version: "1.36.3" });
  machine.put(KUBELET, "maxPods: 110\n");
  machine.put(POLICY, "rules: []\n");
  if (options.controlPlane) machine.put(SCHEDULER, "kind: Pod\n");
  assert.equal(machine.run("--once").status, 0);
  return machine;
}

const reportOf = ({ annotations }: AgentMachine) => parseDrift(annotations[KEYS.current("drift")]);

describe("a node agent that looks for drift", function () {
  this.timeout(120_000);

  it("takes the mark of a restart for no difference, also in a manifest that had no annotations", () => {
    const machine = watchedMachine({ controlPlane: true });
    const metadata = "kind: Pod\nmetadata:\n";
    machine.put(SCHEDULER, `${metadata}  labels:\n    a: b\n`);
    machine.run("--accept", SCHEDULER);
    const mark = '  annotations:\n    foresail/restarted-at: "now"\n';
    machine.put(SCHEDULER, `${metadata}${mark}  labels:\n    a: b\n`);
    machine.run("--once");
    assert.equal(reportOf(machine), undefined);
    machine.put(SCHEDULER, `${metadata}${mark}    c: d\n  labels:\n    a: b\n`);
    machine.run("--once");
    assert.deepEqual(reportOf(machine)?.paths, [SCHEDULER]);
  });

  it("reports nothing as long as nothing differs, and then the files that differ, until they are as before", () => {
    const machine = watchedMachine();
    assert.equal(reportOf(machine), undefined);
    machine.put(KUBELET, "maxPods: 250\n");
    machine.take(POLICY);
    machine.run("--once");
    const report = reportOf(machine);
    assert.deepEqual(report?.paths, [KUBELET, POLICY]);
    machine.put(KUBELET, "maxPods: 111\n");
    machine.run("--once");
    assert.notEqual(reportOf(machine)?.hash, report?.hash);
    machine.put(KUBELET, "maxPods: 110\n");
    machine.put(POLICY, "rules: []\n");
    machine.run("--once");
    assert.equal(reportOf(machine), undefined);
    assert.equal(machine.annotations[KEYS.ready], "true");
  });

  it("answers each difference with both texts, and takes one for its own when a person accepts it", () => {
    const machine = watchedMachine();
    machine.put(KUBELET, "maxPods: 250\n");
    machine.put("/etc/systemd/system/kubelet.service.d/foresail-proxy.conf", "[Service]\n");
    const { status, output } = machine.run("--drift");
    assert.equal(status, 0);
    const answer = parseDriftAnswer(output);
    assert.ok("files" in answer);
    const [kubelet, proxy] = answer.files;
    assert.equal(kubelet?.kind, "changed");
    assert.equal(kubelet?.before?.content, "maxPods: 110\n");
    assert.equal(kubelet?.after?.content, "maxPods: 250\n");
    assert.equal(proxy?.kind, "added");
    assert.equal(proxy?.before, undefined);
    assert.equal(machine.run("--accept", KUBELET).status, 0);
    assert.deepEqual(parseDriftAnswer(machine.run("--drift").output), { files: [proxy] });
    assert.equal(machine.run("--accept", "/etc/passwd").status, 65);
  });

  it("reports and answers many large files with long names within the limits, each file by its name", () => {
    const long = `/etc/${"a".repeat(200)}/${"b".repeat(200)}/${"c".repeat(200)}/${"d".repeat(200)}`;
    const paths = [...Array.from({ length: 40 }, (_, at) => `/etc/many/file-${at}`), long];
    const machine = watchedMachine({ managed: paths });
    for (const path of paths) machine.put(path, `${path}\n`.padEnd(200_000, "x"));
    const { status, output } = machine.run("--drift");
    assert.equal(status, 0);
    assert.ok(output.length < 6 * 2 ** 20, `${output.length} characters`);
    const answer = parseDriftAnswer(output);
    assert.ok("files" in answer);
    assert.deepEqual(
      answer.files.map(({ path }) => path),
      paths,
    );
    assert.match(answer.files[0]?.after?.content ?? "", /^\/etc\/many\/file-0\n/);
    assert.equal(answer.files.at(-1)?.after?.content, "too large to be shown, as it is\n");
    machine.run("--once");
    const report = reportOf(machine);
    assert.equal((report?.paths.length ?? 0) + (report?.more ?? 0), paths.length);
  });

  it("counts its own work as foresail's, and no change of a file that the work leaves alone", () => {
    const machine = watchedMachine();
    machine.put(POLICY, "rules: [none]\n");
    machine.stage("containerd", "1.7.2", `echo new >"${machine.folder}${KUBELET}"`);
    machine.annotate(KEYS.desired("containerd"), "1.7.2");
    machine.annotate(KEYS.changesAllowed, "true");
    assert.equal(machine.run("--once").status, 0);
    assert.deepEqual(reportOf(machine)?.paths, [POLICY]);
  });

  it("repairs nothing that it only reports, whatever the annotations ask for", () => {
    const machine = watchedMachine();
    machine.put(POLICY, "rules: [none]\n");
    machine.annotate(KEYS.desired("drift"), "none");
    machine.annotate(KEYS.changesAllowed, "true");
    assert.equal(machine.run("--once").status, 0);
    assert.deepEqual(reportOf(machine)?.paths, [POLICY]);
    assert.equal(machine.changes.filter((change) => change.includes("systemctl")).length, 0);
  });

  it("puts the files back when it may, keeps what it replaces, and restarts the kubelet", () => {
    const machine = watchedMachine({ repairs: true });
    machine.put(KUBELET, "maxPods: 250\n");
    machine.take(POLICY);
    machine.run("--once");
    assert.deepEqual(reportOf(machine)?.paths, [KUBELET, POLICY]);
    machine.annotate(KEYS.desired("drift"), "none");
    machine.annotate(KEYS.changesAllowed, "true");
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.read(KUBELET), "maxPods: 110\n");
    assert.equal(machine.read(POLICY), "rules: []\n");
    assert.equal(machine.read(`/var/lib/foresail/agent/replaced${KUBELET}`), "maxPods: 250\n");
    assert.equal(reportOf(machine), undefined);
    assert.deepEqual(
      machine.changes.filter((change) => change.startsWith("systemctl")),
      ["systemctl daemon-reload", "systemctl daemon-reload", "systemctl restart kubelet"],
    );
  });

  it("says at once that it can't replace a file, and tries again where a full disk may be the reason", () => {
    for (const [path, words, isFinal] of [
      [SCHEDULER, "Device or resource busy", true],
      [KUBELET, "Operation not permitted", true],
      [SCHEDULER, "No space left on device", false],
    ] as const) {
      const machine = watchedMachine({ repairs: true, controlPlane: true });
      machine.put(path, "kind: changed\n");
      machine.run("--once");
      machine.useScript("mv", [
        `if [[ "\${@: -1}" == *${basename(path)} ]]; then echo "mv: cannot move: ${words}" >&2; exit 1; fi`,
        'exec /bin/mv "$@"',
      ]);
      machine.annotate(KEYS.changesAllowed, "true");
      machine.annotate(KEYS.desired("drift"), "none");
      assert.equal(machine.run("--once").status, 1);
      const { [KEYS.message]: message = "", [KEYS.finalFailure]: final } = machine.annotations;
      assert.match(message, new RegExp(`${path}.*${words}`));
      assert.equal(final !== undefined, isFinal, `${path}: ${words}`);
    }
  });

  it("repairs to the end after a kill in the middle", async () => {
    const machine = watchedMachine({ repairs: true });
    machine.take(POLICY);
    machine.annotate(KEYS.desired("drift"), "none");
    machine.annotate(KEYS.changesAllowed, "true");
    await machine.killAt("before", "systemctl restart kubelet");
    assert.equal(machine.annotations[KEYS.ready], "false");
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.read(POLICY), "rules: []\n");
    assert.ok(machine.changes.includes("systemctl restart kubelet"));
    assert.equal(reportOf(machine), undefined);
    assert.equal(machine.annotations[KEYS.ready], "true");
  });

  it("keeps no copy of containerd's configuration with the credentials of registries", () => {
    const config = "/etc/containerd/config.toml";
    const copy = `/var/lib/foresail/agent/kept/files${config}`;
    const machine = watchedMachine();
    machine.put(config, '[plugins.cri.registry.configs."registry.example".auth]\n  password = "hidden"\n');
    machine.run("--once");
    assert.equal(machine.exists(copy), false);
    assert.equal(reportOf(machine), undefined);
    const other = new AgentMachine({ version: "1.36.3" });
    other.put(config, "version = 2\n");
    other.run("--once");
    assert.equal(other.exists(copy), true);
  });

  for (const [what, plant] of [
    ["a link to a file of root", (file: string, secret: string) => symlinkSync(secret, file)],
    ["another name of a file of root", (file: string, secret: string) => linkSync(secret, file)],
    ["a named pipe", (file: string) => void spawnSync("mkfifo", [file])],
  ] as const)
    it(`does not read ${what} in a folder that others may write, and puts the file back`, () => {
      const file = "/home/app/app.yaml";
      const secret = "/etc/shadow";
      const machine = new AgentMachine({ version: "1.36.3", managed: [file], repairs: true });
      machine.put(file, "port: 1\n", 0o644);
      machine.put(secret, "of root alone\n");
      chmodSync(`${machine.folder}/home/app`, 0o777);
      assert.equal(machine.run("--once").status, 0);
      machine.take(file);
      plant(`${machine.folder}${file}`, `${machine.folder}${secret}`);
      const answer = parseDriftAnswer(machine.run("--drift").output);
      assert.ok("files" in answer);
      assert.equal(answer.files[0]?.path, file);
      assert.match(answer.files[0]?.after?.content ?? "", /^\(.* that foresail does not read/);
      assert.equal(machine.run("--accept", file).status, 65);
      machine.annotate(KEYS.desired("drift"), "none");
      machine.annotate(KEYS.changesAllowed, "true");
      machine.run("--once");
      assert.equal(machine.run("--once").status, 0);
      assert.equal(machine.read(file), "port: 1\n");
      assert.equal(machine.read(secret), "of root alone\n");
      const copies = spawnSync("grep", ["-rlF", "of root alone", `${machine.folder}/var/lib/foresail`]);
      assert.equal(copies.stdout.toString(), "");
    });

  it("does not take the mark of a restart in a manifest for a change", () => {
    const manifest = "/etc/kubernetes/manifests/kube-apiserver.yaml";
    const machine = new AgentMachine({ controlPlane: true });
    machine.put(manifest, "metadata:\n  annotations:\n    a: b\n");
    machine.run("--once");
    machine.put(manifest, 'metadata:\n  annotations:\n    foresail/restarted-at: "now"\n    a: b\n');
    machine.run("--once");
    assert.equal(reportOf(machine), undefined);
  });
});

describe("the report of drift", () => {
  const HASH = "0123456789ab";
  const cases: [string | undefined, ReturnType<typeof parseDrift>][] = [
    [undefined, undefined],
    ["none", undefined],
    [`${HASH} /etc/a /etc/b:5000/c`, { hash: HASH, paths: ["/etc/a", "/etc/b:5000/c"], more: 0 }],
    [`${HASH} /etc/a +3`, { hash: HASH, paths: ["/etc/a"], more: 3 }],
    [`${HASH} +1`, { hash: HASH, paths: [], more: 1 }],
    [`${HASH} /etc/\u001b[31mred`, undefined],
    [`${HASH} relative`, undefined],
    [`${HASH} /${"a".repeat(1300)}`, undefined],
  ];
  for (const [text, report] of cases)
    it(`is parsed or ignored: ${JSON.stringify(text?.slice(0, 40))}`, () =>
      assert.deepEqual(parseDrift(text), report));
});
