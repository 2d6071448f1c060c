import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { registryCredentialsToml } from "../../../../../providers/kubeadm/machine/parameters";
import { prepareScript } from "../../../../../providers/kubeadm/machine/steps";
import { exampleMachine, exampleSpecification } from "./examples";
import { CONTAINERD_FUNCTIONS, ShellMachine } from "./run-shell";

describe("an installation of packages", () => {
  /** Runs it on a machine where apt plans these lines. */
  function install(plan: string, holds = "") {
    const machine = new ShellMachine();
    machine.write("/run/plan", plan);
    machine.write("/run/holds", holds);
    const calls = machine.path("/run/calls");
    machine.program(
      "apt-get",
      `echo "$*" >>${calls}; case "$*" in *--simulate*) cat ${machine.path("/run/plan")} ;; esac`,
    );
    machine.program("apt-mark", `cat ${machine.path("/run/holds")}`);
    const { status, stdout } = machine.run(
      {},
      {},
      "install_packages --allow-downgrades containerd=1.7.2 socat",
    );
    const made = readFileSync(calls, "utf8")
      .split("\n")
      .filter((call) => call !== "" && !call.includes("--simulate"));
    return { status, stdout, made };
  }

  it("never removes any, and lets no question of dpkg arise", () => {
    const { status, made } = install(
      "Inst containerd [1.7.3] (1.7.2 Debian:12 [amd64])\nInst socat (1.7.4 Debian:12 [amd64])\n",
    );
    assert.equal(status, 0);
    assert.equal(made.length, 1);
    for (const option of ["--no-remove", "--force-confold", "--force-confdef"])
      assert.ok(made[0]?.includes(option));
  });

  for (const [what, plan, holds, words] of [
    [
      "remove packages of others",
      "Remv docker-ce [5:28.2.2-1]\nRemv containerd.io [1.7.27-1]\nInst containerd (1.6.20 Debian:12 [amd64])\n",
      "",
      /would remove these packages from this machine: docker-ce containerd\.io\..*apt-get remove docker-ce containerd\.io/,
    ],
    ["bring one of others back", "Inst libc6 [2.37] (2.36 Debian:12 [amd64])\n", "", /older versions: libc6/],
    [
      "change one on hold",
      "Inst runc [1.1] (1.2 Debian:12 [amd64])\n",
      "runc\n",
      /on hold: runc;.*apt-mark unhold runc/,
    ],
  ] as const)
    it(`is refused by name when it would ${what}, and installs nothing`, () => {
      const { status, stdout, made } = install(plan, holds);
      assert.deepEqual([status, made], [78, []]);
      assert.match(stdout, words);
    });

  it("finishes packages that are installed halfway, or names them", () => {
    const machine = new ShellMachine();
    machine.program("dpkg", 'if [ "$1" = --audit ]; then echo " libfoo  broken"; else exit 1; fi');
    const { status, stdout } = machine.run({}, {}, "configure_packages");
    assert.equal(status, 78);
    assert.match(stdout, /can't finish them: libfoo; run there: dpkg --configure -a/);
  });
});

describe("the package of containerd", () => {
  const packageOf = (listed: string) => {
    const machine = new ShellMachine();
    machine.program("dpkg-query", `printf '%s\\n' ${listed}`);
    return machine.run({}, {}, "containerd_package").stdout;
  };

  it("is the installed one that provides it, and else the distribution's", () => {
    for (const [listed, expected] of [
      ["'installed, bash, '", "containerd"],
      ["'installed, containerd, '", "containerd"],
      ["'config-files, containerd, ' 'installed, containerd.io, containerd, runc'", "containerd.io"],
      ["'installed, moby-containerd, containerd (= 1.7.2), runc'", "moby-containerd"],
      ["'installed, golang-github-containerd-dev, ' 'installed, mycontainerd, xcontainerd'", "containerd"],
    ] as const)
      assert.equal(packageOf(listed), expected, listed);
  });

  it("is refused by name when its programs are missing", () => {
    const machine = new ShellMachine();
    machine.program("dpkg-query", "echo 'installed, containerd.io, containerd, runc'");
    const { status, stdout } = machine.run(
      { "common/preflight": ["refuse_incomplete_containerd"] },
      { MACHINE: "w-1" },
      `command() { return 1; }; refuse_incomplete_containerd`,
    );
    assert.equal(status, 78);
    assert.match(
      stdout,
      /^w-1: the package containerd\.io provides containerd .* no program containerd; nothing was changed/,
    );
  });
});

describe("a containerd configuration of others", () => {
  const OTHERS = "/var/lib/foresail/before/containerd.toml";
  const FILE = `disabled_plugins = [
  "cri", "aufs"]
`;
  const DUMP = `imports = ["/var/lib/foresail/before/containerd.toml"]
  address = "/run/containerd/containerd.sock"
    sandbox_image = "pause"
    [plugins."io.containerd.grpc.v1.cri".cni]
      bin_dir = "/usr/lib/cni"
      conf_dir = "/etc/cni/other"
    [plugins."io.containerd.grpc.v1.cri".registry]
      config_path = ""
      [plugins."io.containerd.grpc.v1.cri".registry.configs."r.example.com".auth]
        password = "theirs"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
        runtime_type = "io.containerd.runc.v2"
        [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
          SystemdCgroup = false
`;
  /** What containerd 2 has in other places. */
  const DUMP_2 = `version = 3
  address = '/run/containerd/containerd.sock'
    [plugins.'io.containerd.cri.v1.images'.pinned_images]
      sandbox = 'pause'
      config_path = '/etc/docker/certs.d'
    [plugins.'io.containerd.cri.v1.runtime'.cni]
      bin_dir = ''
      bin_dirs = ['/usr/lib/cni']
    [plugins.'io.containerd.image-verifier.v1.bindir']
      bin_dir = '/opt/verifiers'
        [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
          runtime_type = 'io.containerd.runc.v2'
          [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
            BinaryName = ''
`;

  function print(
    dump: string,
    { registries = [], credentials = "" }: { registries?: string[]; credentials?: string } = {},
  ) {
    const machine = new ShellMachine();
    machine.write(OTHERS, FILE);
    machine.write("/run/foresail-step/none", "");
    // the script of a test has the machine's folder before each path
    machine.write("/run/dump", dump.replaceAll("/run/", machine.path("/run/")));
    machine.write("/run/credentials", credentials);
    machine.program(
      "containerd",
      `case $4 in dump) sed 's/^/file: /' "$2" >&2; cat ${machine.path("/run/dump")} ;; esac`,
    );
    const { status, stdout, stderr } = machine.run(
      {
        ...CONTAINERD_FUNCTIONS,
      },
      { REGISTRIES: registries, MACHINE: "w-1", SYSTEMD_CGROUP: "true" },
      `in_container=no; pause_image() { echo r.example.com/pause:3.10; }
      text=$(print_containerd_settings) || fail "$text" 78
      adjust_containerd_settings "$text" "$(cat ${machine.path("/run/credentials")})"`,
    );
    return { status, stdout: stdout.replaceAll(machine.root, ""), stderr };
  }

  it("keeps its settings, except those without which pods don't start", () => {
    const { status, stdout, stderr } = print(DUMP);
    assert.equal(status, 0, stdout);
    // containerd has no settings of a disabled plugin
    assert.match(stderr, /file: disabled_plugins = \[\nfile: {3}"aufs"\]/);
    for (const line of [
      "imports = []",
      '    sandbox_image = "r.example.com/pause:3.10"',
      '      bin_dir = "/opt/cni/bin"',
      '      conf_dir = "/etc/cni/net.d"',
      '      config_path = "/etc/containerd/certs.d"',
      '        password = "theirs"',
      '      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]',
      '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]',
    ])
      assert.ok(stdout.split("\n").includes(line), `${line} in ${stdout}`);
    assert.deepEqual(stdout.match(/SystemdCgroup = .*/g), ["SystemdCgroup = true", "SystemdCgroup = true"]);
  });

  it("has each table of credentials once, and those of the configuration count", () => {
    const own = registryCredentialsToml({ "r.example.com": { username: "u", password: "ours" } });
    const { stdout } = print(DUMP, { credentials: own });
    assert.equal(stdout.match(/r\.example\.com".auth\]/g)?.length, 1);
    assert.match(stdout, /ours/);
    assert.doesNotMatch(stdout, /theirs/);
    assert.match(stdout, /runtimes\.nvidia/);
  });

  it("is merged in the form of containerd 2, too", () => {
    const own = registryCredentialsToml({ "r.example.com": { username: "u", password: "ours" } });
    const { status, stdout } = print(DUMP_2, { credentials: own });
    assert.equal(status, 0, stdout);
    for (const line of [
      '      sandbox = "r.example.com/pause:3.10"',
      '      config_path = "/etc/docker/certs.d:/etc/containerd/certs.d"',
      "      bin_dir = ''",
      "      bin_dir = '/opt/verifiers'",
      '      bin_dirs = ["/opt/cni/bin"]',
      "            SystemdCgroup = true",
      '[plugins."io.containerd.cri.v1.images".registry.configs."r.example.com".auth]',
    ])
      assert.ok(stdout.split("\n").includes(line), `${line} in ${stdout}`);
  });

  it("is refused in words when it excludes the configuration's mirrors, another socket or an unknown form", () => {
    const mirrored = `${DUMP}[plugins."io.containerd.grpc.v1.cri".registry.mirrors."docker.io"]\n`;
    for (const [dump, registries, words] of [
      [mirrored, ["docker.io"], /registry\.mirrors.*move them into the configuration/],
      [DUMP.replace("containerd.sock", "other.sock"), [], /another grpc\.address/],
      ["version = 4\n", [], /of a form that foresail does not know/],
    ] as const) {
      const { status, stdout } = print(dump, { registries: [...registries] });
      assert.equal(status, 78);
      assert.match(stdout, words);
    }
    // without mirrors of the configuration, those of the file stay
    const kept = print(mirrored).stdout;
    assert.match(kept, /config_path = ""/);
  });
});

describe("swap", () => {
  const script = (kubelet: object) =>
    prepareScript({ ...exampleSpecification(), kubelet: { ...kubelet } }, exampleMachine("w-1"), []).text;

  it("stays on a machine whose kubelet is to run with it, and is turned off on others", () => {
    assert.match(script({}), /swapoff -a/);
    const kept = script({ failSwapOn: false, memorySwap: { swapBehavior: "LimitedSwap" } });
    assert.equal(/swapoff|fstab/.test(kept), false);
  });
});
