import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { ShellMachine } from "./run-shell";

const FILES = ["common/before", "common/network-names", "common/restore", "common/pod-networks"];
const PREPARE = `changed=no; write_file /etc/there.conf 0600 <<<ours; write_file /etc/there.conf 0600 <<<again
  write_file /etc/link.conf 0600 <<<ours; write_file /opt/new/folder/file 0644 <<<ours
  write_file /etc/sysctl.d/90-foresail.conf 0644 <<<ours`;
const SETTINGS = "/etc/settings-now";

/** A machine of others, whose kernel settings are in a file, and whose log of commands is another one. */
function machineOfOthers() {
  const machine = new ShellMachine();
  machine.write("/etc/there.conf", "of others\n", 0o640);
  machine.write("/etc/target.conf", "of others\n");
  symlinkSync("target.conf", machine.path("/etc/link.conf"));
  machine.write("/opt/cni/bin/theirs", "a program");
  machine.write(SETTINGS, "net.ipv4.ip_forward = 0\nkernel.panic = 0\n");
  const settings = machine.path(SETTINGS);
  machine.program(
    "sysctl",
    `for word; do case $word in --load=*) cp "\${word#--load=}" ${settings}; exit ;; --all) exit ;; esac; done; cat ${settings}`,
  );
  for (const name of [
    "systemctl",
    "update-ca-certificates",
    "ip",
    "swapon",
    "iptables-nft-save",
    "iptables-legacy-save",
  ])
    machine.program(name, "");
  for (const name of ["ip6tables-nft-save", "ip6tables-legacy-save", "ipset", "nft", "dpkg-query"])
    machine.program(name, "");
  machine.program("systemd-detect-virt", "exit 1");
  machine.program(
    "apt-mark",
    `if [ "$1" = showhold ]; then echo kubectl; else echo "$@" >>${machine.path("/commands")}; fi`,
  );
  return machine;
}

const run = (machine: ShellMachine, commands: string, claimed = "") =>
  machine.run(
    Object.fromEntries(FILES.map((file) => [file, "all" as const])),
    { claimed_by: claimed },
    commands,
  );

function assertAsBefore(machine: ShellMachine) {
  const text = (file: string) => readFileSync(machine.path(file), "utf8");
  assert.equal(text("/etc/there.conf"), "of others\n");
  assert.equal(statSync(machine.path("/etc/there.conf")).mode & 0o777, 0o640);
  assert.equal(readlinkSync(machine.path("/etc/link.conf")), "target.conf");
  assert.equal(text("/etc/target.conf"), "of others\n");
  assert.match(text(SETTINGS), /^net\.ipv4\.ip_forward = 0\nkernel\.panic = 0\n/);
  for (const gone of ["/opt/new", "/etc/sysctl.d/90-foresail.conf", "/opt/cni/bin/of-network"])
    assert.equal(existsSync(machine.path(gone)), false, gone);
  assert.equal(text("/opt/cni/bin/theirs"), "a program");
}

describe("the record of a machine before it was claimed", function () {
  this.timeout(20_000);
  it("gives files, links, settings, programs and holds back, as often as a reset runs", () => {
    const machine = machineOfOthers();
    const { status, stderr } = run(
      machine,
      `record_before 10.244.0.0/16; ${PREPARE}; echo "net.ipv4.ip_forward = 1" >${SETTINGS}; touch /opt/cni/bin/of-network`,
    );
    assert.deepEqual([status, stderr], [0, ""]);
    for (let times = 0; times < 2; times++) {
      const again = run(machine, "clear_network_files; restore_before", "a mark");
      assert.deepEqual([again.status, again.stderr], [0, ""]);
      assertAsBefore(machine);
    }
    // what was on hold before stays so
    assert.doesNotMatch(readFileSync(machine.path("/commands"), "utf8"), /kubectl/);
    assert.match(readFileSync(machine.path("/commands"), "utf8"), /unhold kubelet/);
  });

  it("stays until the mark is gone, so that a reset that was interrupted at any place restores the machine", () => {
    const machine = machineOfOthers();
    run(machine, `record_before 10.244.0.0/16; ${PREPARE}; touch /opt/cni/bin/of-network`);
    machine.write("/etc/foresail/machine", "a mark\n");
    machine.write("/var/lib/foresail/member", "");
    const reset = (fakes: string) =>
      machine.step("cluster/reset", {}, ["common/own-address", ...FILES.slice(1)], {
        fakes: `kubeadm() { :; }; ctr() { :; }; clear_network() { :; }; ${fakes}`,
      });
    const record = () => existsSync(machine.path("/var/lib/foresail/before/paths"));
    const marked = () => existsSync(machine.path("/etc/foresail/machine"));
    for (const interrupted of ["restore_before() { exit 9; }", "find() { exit 9; }"]) {
      assert.equal(reset(interrupted).status, 9);
      assert.deepEqual([marked(), record()], [true, true], interrupted);
    }
    const last = reset("");
    assert.deepEqual([last.status, last.stderr], [0, ""]);
    assertAsBefore(machine);
    assert.deepEqual([marked(), existsSync(machine.path("/var/lib/foresail"))], [false, false]);
  });

  it("is made again until the machine is claimed, and then never, also by a preparation that runs again", () => {
    const machine = machineOfOthers();
    run(machine, "record_before 10.244.0.0/16");
    machine.write("/etc/there.conf", "of others\n", 0o640);
    assert.equal(run(machine, `record_before 10.244.0.0/16; ${PREPARE}`).status, 0);
    assert.equal(run(machine, `record_before 10.244.0.0/16; ${PREPARE}`, "a mark").status, 0);
    run(machine, "restore_before", "a mark");
    assertAsBefore(machine);
  });

  it("is missing on a machine of an earlier release, which loses foresail's own files and nothing of others", () => {
    const machine = machineOfOthers();
    machine.write("/etc/sysctl.d/90-foresail.conf", "ours\n");
    machine.write("/etc/fstab", "# foresail: /swap none swap sw 0 0\n");
    const { status, stderr } = run(
      machine,
      "record_before 10.244.0.0/16; clear_network_files; restore_before",
      "a mark",
    );
    assert.deepEqual([status, stderr], [0, ""]);
    assertAsBefore(machine);
    assert.equal(readFileSync(machine.path("/etc/fstab"), "utf8"), "/swap none swap sw 0 0\n");
  });

  it("has no file that kubeadm made and a change of foresail put back", () => {
    const machine = machineOfOthers();
    run(machine, "record_before 10.244.0.0/16");
    machine.write("/opt/kubelet.yaml", "changed\n");
    machine.write("/opt/previous.yaml", "of kubeadm\n");
    run(machine, "changed=no; put_file /opt/previous.yaml /opt/kubelet.yaml", "a mark");
    assert.equal(readFileSync(machine.path("/opt/kubelet.yaml"), "utf8"), "of kubeadm\n");
    // as a reset removes it
    run(machine, "rm /opt/kubelet.yaml; restore_before", "a mark");
    assert.equal(existsSync(machine.path("/opt/kubelet.yaml")), false);
  });

  it("is not begun on a machine that an earlier commit has recorded in its own way", () => {
    const machine = machineOfOthers();
    machine.write("/var/lib/foresail/before/complete", "");
    machine.write("/etc/sysctl.d/90-foresail.conf", "ours\n");
    run(machine, `record_before 10.244.0.0/16; ${PREPARE}; clear_network_files; restore_before`, "a mark");
    assert.equal(existsSync(machine.path("/etc/sysctl.d/90-foresail.conf")), false);
  });

  it("is the node agent's own on an adopted machine, for configured files", () => {
    const machine = machineOfOthers();
    machine.write("/etc/theirs.conf", "ours\n");
    machine.write("/etc/ours.conf", "ours\n");
    machine.write("/var/lib/foresail/agent/written", "/etc/theirs.conf\n/etc/ours.conf\n");
    machine.write("/var/lib/foresail/agent/originals/etc/theirs.conf", "of others\n");
    // the paths in the list are those of the test's folder
    const list = machine.path("/var/lib/foresail/agent/written");
    run(
      machine,
      `sed -i "s|^|${machine.root}|" ${list}; mkdir -p "$AGENT_PATH/originals${machine.root}"; mv "$AGENT_PATH/originals/etc" "$AGENT_PATH/originals${machine.root}/"`,
    );
    assert.equal(run(machine, "restore_before", "a mark").status, 0);
    assert.equal(readFileSync(machine.path("/etc/theirs.conf"), "utf8"), "of others\n");
    assert.equal(existsSync(machine.path("/etc/ours.conf")), false);
    assertAsBefore(machine);
  });

  it("leaves nftables and sets of others alone, and takes foresail's rules out of their chains", () => {
    const machine = machineOfOthers();
    const log = machine.path("/commands");
    machine.program(
      "nft",
      `case "$*" in
      "list tables") printf 'table ip kube-proxy\\ntable ip6 kube-proxy\\ntable inet firewall\\n' ;;
      *ruleset) printf 'table inet firewall { # handle 3\\n chain forward { # handle 1\\n  type filter hook forward priority filter; policy drop;\\n'
        printf '  ip saddr 10.244.0.0/16 accept comment "foresail" # handle 7\\n  ip saddr 10.0.0.0/8 accept comment "foresail of others" # handle 8\\n }\\n}\\n' ;;
      *) echo "nft $*" >>${log} ;;
      esac`,
    );
    machine.program(
      "ipset",
      `if [ "$1" = list ]; then printf 'KUBE-LOOP-BACK\\ncali40s:abc\\nblocked\\ncilium_before\\n'; else echo "ipset $*" >>${log}; fi`,
    );
    machine.write("/var/lib/foresail/before/network", "set cilium_before\ntable ip6 kube-proxy\n");
    const { status, stderr } = run(machine, "clear_rules", "a mark");
    assert.deepEqual([status, stderr], [0, ""]);
    assert.deepEqual(readFileSync(log, "utf8").trim().split("\n"), [
      "ipset destroy KUBE-LOOP-BACK",
      "ipset destroy cali40s:abc",
      "nft delete table ip kube-proxy",
      "nft delete rule inet firewall forward handle 7",
    ]);
  });

  it("removes a folder that foresail made, and none that a user's link leads to", () => {
    const machine = machineOfOthers();
    machine.write("/opt/home/of-user", "");
    chmodSync(machine.path("/opt/home"), 0o777);
    mkdirSync(machine.path("/opt/root/conf"), { recursive: true });
    run(machine, "record_before 10.244.0.0/16; changed=no; write_file /opt/home/app/conf/file 0644 <<<ours");
    rmSync(machine.path("/opt/home/app"), { recursive: true });
    symlinkSync(machine.path("/opt/root"), machine.path("/opt/home/app"));
    assert.equal(run(machine, "restore_before", "a mark").status, 0);
    assert.ok(existsSync(machine.path("/opt/root/conf")));
  });

  it("leaves a file alone that it could not copy", () => {
    const machine = machineOfOthers();
    machine.program("cp", "exit 1");
    run(machine, "record_before 10.244.0.0/16; changed=no; write_file /etc/there.conf 0600 <<<ours");
    assert.equal(run(machine, "restore_before", "a mark").status, 0);
    assert.equal(readFileSync(machine.path("/etc/there.conf"), "utf8"), "ours\n");
  });
});
