import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { machineReadingScript } from "../../../../../providers/kubeadm/machine/facts/machine-reading";
import { exampleSpecification } from "./examples";
import { ShellMachine } from "./run-shell";

describe("the locks of packages", () => {
  const HELD = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 71 (apt-get)";

  /** A machine whose program fails with these words until it has been called this often. */
  function busy(program: string, words: string, calls: number): ShellMachine {
    const host = new ShellMachine();
    host.write("/calls", "");
    host.program("sleep", "true");
    host.program(
      program,
      `echo "$*" >>${host.path("/calls")}; [ $(wc -l <${host.path("/calls")}) -ge ${calls} ] || { echo '${words}' >&2; exit 100; }`,
    );
    return host;
  }
  const callsOf = (host: ShellMachine) => readFileSync(host.path("/calls"), "utf8").trim().split("\n");

  for (const [program, command, words] of [
    ["apt-get", "apt_get update", HELD],
    ["apt-get", "apt_get install curl", HELD.replace("apt/lists/lock", "dpkg/lock-frontend")],
    [
      "dpkg",
      "configure_packages",
      "dpkg: error: dpkg frontend lock was locked by another process with pid 71",
    ],
  ] as const)
    it(`waits for the lock of ${command}, and names who has it once`, () => {
      const host = busy(program, words, 4);
      const { status, stdout, stderr } = host.run({}, {}, `exec 3>&2; ${command}`);
      assert.equal(status, 0, stdout);
      assert.equal(callsOf(host).length, 4);
      assert.deepEqual(stderr.match(/waits for .*/g)?.length, 1);
      assert.match(stderr, /waits for the packages' lock: .*(process 71 \(apt-get\)|with pid 71)/);
    });

  it("repeats nothing that fails for another reason", () => {
    const host = busy("apt-get", "E: Unable to locate package curl", 4);
    const { status, stdout } = host.run({}, {}, "apt_get install curl || echo status $?");
    assert.deepEqual([status, callsOf(host).length], [0, 1]);
    assert.match(stdout, /Unable to locate package curl\n.*status 100/s);
  });

  it("gives up after its limit, and says what to wait for", () => {
    const host = busy("apt-get", HELD, 1000);
    const { status, stdout } = host.run({}, {}, "sleep() { SECONDS=$((SECONDS + 100)); }; apt_get update");
    assert.equal(status, 75);
    assert.match(
      stdout,
      /held by process 71 \(apt-get\), and it was not free within 300 s; wait until that program has ended/,
    );
  });
});

describe("a machine that others have used", () => {
  const refuse = (host: ShellMachine, own: string[], files: string[] = []) =>
    host.run(
      { "common/preflight": ["refuse_other_networks"] },
      { MACHINE: "w-1", OWN_NETWORKS: own, FILE_PATHS: files.map((file) => host.path(file)) },
      "refuse_other_networks; echo goes on",
    );
  const machine = (...files: string[]) => {
    const host = new ShellMachine();
    for (const file of ["README.md", ...files]) host.write(`/etc/cni/net.d/${file}`, "{}");
    return host;
  };

  it("is refused with a network that neither foresail nor the configured plugin wrote", () => {
    const { status, stdout } = refuse(machine("10-flannel.conflist", "10-foresail.conflist"), [
      "10-foresail.conflist",
    ]);
    assert.equal(status, 78);
    assert.match(
      stdout,
      /^w-1: \S*\/etc\/cni\/net\.d\/10-flannel\.conflist configures another pod network.*run there: mkdir/,
    );
    assert.doesNotMatch(stdout, /10-foresail|README/);
  });

  it("keeps the files of its own network, those of the configuration, and all of a network that is not known", () => {
    for (const [own, files] of [
      [["10-flannel.conflist"], []],
      [["10-foresail.conflist"], ["/etc/cni/net.d/10-flannel.conflist"]],
      [[], []],
    ] as const)
      assert.equal(refuse(machine("10-flannel.conflist"), [...own], [...files]).stdout, "goes on\n");
    assert.equal(refuse(new ShellMachine(), ["10-foresail.conflist"]).stdout, "goes on\n");
  });

  it("is refused with less free space than images and pods need, also where a folder does not exist yet", () => {
    const free = (mebibytes: number, least = "1024") => {
      const host = new ShellMachine();
      host.write("/var/lib/here", "");
      host.program("df", `echo Avail; [[ "\${@: -1}" == */var/lib/ ]] && echo " ${mebibytes}"`);
      const parameters = {
        MACHINE: "w-1",
        DATA_PATHS: [host.path("/var/lib/containerd")],
        LEAST_MEBIBYTES: least,
      };
      return host.run({ "common/disk-space": "all" }, parameters, "refuse_full_disks; echo goes on");
    };
    assert.equal(free(1024).stdout, "goes on\n");
    const { status, stdout } = free(1023);
    assert.equal(status, 78);
    assert.match(
      stdout,
      /^w-1: \S*\/var\/lib\/containerd has 1023 MiB of free space, and a node needs 1024 MiB there\. Nothing was changed\. Free space/,
    );
  });

  it("is asked for the free space of etcd's own folder, also when the configuration chooses it", () => {
    const pathsOf = (role: "control-plane" | "worker", dataDir?: string) =>
      machineReadingScript({
        specification: exampleSpecification({
          kubeadm: dataDir === undefined ? {} : { clusterConfiguration: { etcd: { local: { dataDir } } } },
        }),
        machine: { name: "m-1", role, group: role },
        podNetwork: "bridge",
      }).text.match(/^DATA_PATHS=.*$/m)?.[0];
    assert.match(pathsOf("control-plane", "/data/the etcd") ?? "", /kubelet' '\/data\/the etcd'/);
    assert.match(pathsOf("control-plane") ?? "", /'\/var\/lib\/etcd'/);
    assert.match(pathsOf("control-plane", "relative") ?? "", /'\/var\/lib\/etcd'/);
    assert.doesNotMatch(pathsOf("worker", "/data/etcd") ?? "", /etcd/);
  });

  it("is asked for the free space of a folder directly below / that does not exist yet", () => {
    const host = new ShellMachine();
    host.program("df", 'echo Avail; [ "${@: -1}" = / ] && echo 2048');
    const parameters = { MACHINE: "w-1", DATA_PATHS: ["/no-such-folder"], LEAST_MEBIBYTES: "1024" };
    const commands = "refuse_full_disks; echo goes on";
    assert.equal(host.run({ "common/disk-space": "all" }, parameters, commands).stdout, "goes on\n");
  });

  const awaitCloudInit = (state: string, wait = "true") => {
    const host = new ShellMachine();
    host.program("cloud-init", `if [ "$2" = --wait ]; then ${wait}; else echo "status: ${state}"; fi`);
    host.program("timeout", 'shift; "$@"');
    return host.run(
      { "cluster/prepare": ["await_cloud_init"] },
      {},
      "exec 3>&2; await_cloud_init; echo goes on",
    );
  };

  it("is given time until its cloud-init has ended, with a limit", () => {
    assert.match(awaitCloudInit("running").stderr, /waits until cloud-init has ended, at most 300 s/);
    assert.match(awaitCloudInit("running", "exit 124").stderr, /does not wait for any longer/);
    for (const state of ["done", "disabled", "error"])
      assert.equal(awaitCloudInit(state, "exit 9").stderr, "");
    assert.equal(awaitCloudInit("running", "exit 1").stdout.endsWith("goes on\n"), true);
  });
});
