import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import {
  adoptionAccessScript,
  adoptionFactsScript,
  adoptScript,
  authorityFingerprint,
  parseMemberFacts,
  releaseScript,
} from "../../../../../providers/kubeadm/machine/adoption/adoption-steps";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { ShellMachine } from "../machine/run-shell";

const AUTHORITY = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
const OWNER = "cluster=demo machine=w-1";
const KUBELET = `clusters:\n- cluster:\n    certificate-authority-data: ${Buffer.from(AUTHORITY).toString("base64")}\n`;
const PATHS = {
  MARKER_PATH: NODE_PATHS.marker,
  MEMBER_PATH: NODE_PATHS.member,
  LOGS_PATH: NODE_PATHS.logs,
  AGENT_UNIT_PATH: NODE_PATHS.agentUnit,
  AGENT_PROGRAM_PATH: NODE_PATHS.agentProgram,
  AGENT_CONFIGURATION_PATH: NODE_PATHS.agentConfiguration,
};

describe("the scripts of an adoption", () => {
  let machine: ShellMachine;

  beforeEach(() => {
    machine = new ShellMachine();
    machine.program("systemctl", 'if [ "$1" = show ]; then echo "{ path=/usr/bin/kubelet ; argv[]=x }"; fi');
    machine.program("ip", 'echo "2: eth0 inet 10.0.0.101/24 brd 10.0.0.255 scope global eth0"');
    machine.write("/etc/machine-id", "0123456789abcdef\n");
    machine.write("/etc/os-release", 'ID=debian\nVERSION_ID="12"\n');
    machine.write("/etc/kubernetes/kubelet.conf", KUBELET);
  });
  afterEach(() => rmSync(machine.root, { recursive: true }));

  const facts = () => {
    const { stdout, stderr, status } = machine.step("adoption/adoption-facts", PATHS, ["common/authority"]);
    assert.deepEqual([stderr, status], ["", 0]);
    return parseMemberFacts(stdout);
  };
  const owner = { MACHINE: "w-1", OWNER, OWNER_ID: "", OWNER_STACK: "", TAKE_OVER: "" };
  const adopt = (authority = authorityFingerprint(AUTHORITY)) =>
    machine.step("adoption/adopt", { ...PATHS, ...owner, AUTHORITY: authority }, [
      "common/owner",
      "common/authority",
    ]);
  const release = () =>
    machine.step("adoption/release", { ...PATHS, ...owner }, ["common/owner", "common/adopted"]);
  const has = (file: string) => existsSync(machine.path(file));

  it("read what identifies a member, and write nothing", () => {
    const { system, ...others } = facts();
    assert.match(system, /^debian 12 \S+$/);
    assert.deepEqual(others, {
      marker: "",
      authority: authorityFingerprint(AUTHORITY),
      machineId: "0123456789abcdef",
      addresses: ["10.0.0.101"],
      kubelet: "/usr/bin/kubelet",
      controlPlane: false,
    });
    assert.deepEqual([has("/etc/foresail"), has("/var"), has("/run")], [false, false, false]);
  });

  it("read the authority from the file that the kubelet's kubeconfig names", () => {
    machine.write("/etc/kubernetes/pki/ca.crt", AUTHORITY);
    const ca = machine.path("/etc/kubernetes/pki/ca.crt");
    machine.write(
      "/etc/kubernetes/kubelet.conf",
      `clusters:\n- cluster:\n    certificate-authority: ${ca}\n`,
    );
    assert.equal(facts().authority, authorityFingerprint(AUTHORITY));
  });

  const manifests = {
    "as kubeadm writes it": "    - --secure-port=7443\n    - --client-ca-file=/etc/kubernetes/ssl/ca.crt\n",
    "as JSON":
      '{"command":["kube-apiserver","--secure-port=7443","--client-ca-file=/etc/kubernetes/ssl/ca.crt"]}',
    "in flow style":
      "command: [kube-apiserver, '--secure-port=7443', --client-ca-file=/etc/kubernetes/ssl/ca.crt]\n",
  };
  for (const [form, text] of Object.entries(manifests))
    it(`read how the API server runs from its manifest ${form}`, () => {
      machine.write("/etc/kubernetes/manifests/kube-apiserver.yaml", text.replaceAll("/etc/", "/ETC/"));
      const { controlPlane, apiServerPort, authorityFile, externalAuthority } = facts();
      assert.deepEqual(
        [controlPlane, apiServerPort, authorityFile, externalAuthority],
        [true, "7443", "/ETC/kubernetes/ssl/ca.crt", true],
      );
      machine.write("/etc/kubernetes/pki/ca.key", "key");
      assert.equal(facts().externalAuthority, undefined);
    });

  it("find no membership on a machine without a kubelet's kubeconfig", () => {
    rmSync(machine.path("/etc/kubernetes/kubelet.conf"));
    assert.equal(facts().authority, "");
  });

  it("that only read use no frame, since that writes a log and folders", () => {
    for (const script of [adoptionFactsScript("demo", "w-1"), adoptionAccessScript("demo", "w-1")])
      assert.doesNotMatch(script.text, /mkdir|>>|flock/);
    assert.match(adoptScript("demo", "w-1", "a").text, /flock/);
    assert.match(releaseScript("demo", "w-1").text, /flock/);
  });

  it("claim a machine with two files, once", () => {
    machine.write("/etc/foresail/.keep", "");
    machine.write("/var/lib/foresail/.keep", "");
    machine.write("/etc/kubernetes/tmp/kubeadm-backup-etcd-1/db", "data");
    assert.equal(adopt().status, 0);
    assert.equal(readFileSync(machine.path(NODE_PATHS.marker), "utf8"), `${OWNER}\n`);
    const member = readFileSync(machine.path(NODE_PATHS.member), "utf8");
    assert.match(member, /^adopted 2\d{3}-/);
    assert.equal(adopt().status, 0);
    assert.equal(readFileSync(machine.path(NODE_PATHS.member), "utf8"), member);
    // backups of upgrades by others stay
    assert.ok(has("/etc/kubernetes/tmp/kubeadm-backup-etcd-1/db"));
  });

  it("refuse another owner's machine and another cluster's, and leave them as they are", () => {
    machine.write(NODE_PATHS.marker, "cluster=other machine=w-1\n");
    for (const { status, stdout } of [adopt(), release()]) {
      assert.equal(status, 78);
      assert.match(stdout, /belongs to another foresail cluster/);
    }
    rmSync(machine.path(NODE_PATHS.marker));
    assert.equal(adopt("b".repeat(64)).status, 78);
    assert.deepEqual([has(NODE_PATHS.marker), has(NODE_PATHS.member)], [false, false]);
  });

  it("release a machine: what foresail put there goes, what Kubernetes needs stays, and a second run does nothing", () => {
    const list = "/etc/apt/sources.list.d/foresail-kubernetes.list";
    machine.write(NODE_PATHS.marker, `${OWNER}\n`);
    machine.write(NODE_PATHS.member, "adopted 2026-11-23T00:00:00Z\n");
    for (const file of [NODE_PATHS.agentUnit, NODE_PATHS.agentProgram, NODE_PATHS.agentConfiguration, list])
      machine.write(file, "x");
    machine.write(`${NODE_PATHS.logs}/adopt.log`, "x");
    for (let run = 0; run < 2; run++) {
      const { status, stderr } = release();
      assert.deepEqual([status, stderr], [0, ""]);
      assert.deepEqual(
        [
          NODE_PATHS.marker,
          NODE_PATHS.agentUnit,
          NODE_PATHS.logs,
          "/var/lib/foresail",
          "/etc/foresail",
          list,
        ].filter(has),
        [],
      );
      assert.ok(has("/etc/kubernetes/kubelet.conf"));
    }
  });

  it("keep the files of a machine that foresail itself joined, except the agent and the marks", () => {
    const list = "/etc/apt/sources.list.d/foresail-kubernetes.list";
    machine.write(NODE_PATHS.marker, `${OWNER}\n`);
    machine.write(NODE_PATHS.member, "2026-11-23T00:00:00Z\n");
    machine.write(NODE_PATHS.agentProgram, "x");
    machine.write("/usr/local/lib/foresail/own-address", "x");
    machine.write(list, "x");
    assert.equal(release().status, 0);
    assert.deepEqual([has(list), has("/usr/local/lib/foresail/own-address")], [true, true]);
    assert.deepEqual([has(NODE_PATHS.marker), has(NODE_PATHS.agentProgram)], [false, false]);
  });
});
