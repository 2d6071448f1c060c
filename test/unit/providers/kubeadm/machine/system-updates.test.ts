import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ShellMachine } from "./run-shell";

const PLAN = `NOTE: This is only a simulation!
Inst openssl [3.0.14-1] (3.0.15-1 Debian-Security:13/stable-security [amd64]) []
Inst libssl3 [3.0.14-1] (3.0.15-1 Debian-Security:13/stable-security [amd64])
Inst tzdata [2026a-0] (2026b-0 Debian:13.2/stable, Debian-Updates:13/stable-updates [all])
Inst bash [5.2-1] (5.2-2 Ubuntu:24.04/noble-updates, Ubuntu:24.04/noble-security [amd64])
Inst kubelet [1.36.3-1.1] (1.36.4-1.1 isv:kubernetes:core:stable:v1.36:pkgs.k8s.io [amd64])
Inst linux-image-6.12.9-amd64 (6.12.9-1 Debian:13.2/stable [amd64])
Conf openssl (3.0.15-1 Debian-Security:13/stable-security [amd64])
`;

describe("the installer of updates of the operating system", () => {
  const FILES = { "node-agent/system-updates": "all" } as const;

  function machineWith({ plan = PLAN, packages = "", installation = "" } = {}): ShellMachine {
    const machine = new ShellMachine();
    machine.write("/run/plan", plan);
    // the simulated installation has exactly what is named, and a dependency of openssl
    machine.program(
      "apt-get",
      `echo "$*" >>${machine.path("/run/calls")}
case "$*" in
*"--simulate upgrade"*) cat ${machine.path("/run/plan")} ;;
*--simulate*) for one in "$@"; do case $one in openssl=*) echo "Inst libdep (1-1 Debian:13 [amd64])" ;;& *=*) echo "Inst \${one%%=*} [0] (\${one#*=} Debian:13 [amd64])" ;; esac; done ;;
*" install "*) ${installation || ":"} ;;
esac`,
    );
    machine.program("dpkg-query", `printf '%s\\n' 'ii  bash=5.2-1' ${packages}`);
    machine.program("dpkg", ":");
    machine.program(
      "apt-mark",
      `echo "apt-mark $*" >>${machine.path("/run/calls")}; case $1 in showmanual) printf '%s\\n' bash openssl ;; esac`,
    );
    machine.program("systemd-detect-virt", "exit 1");
    return machine;
  }
  const run = (machine: ShellMachine, version: string, command: string) =>
    machine.run({ ...FILES }, { VERSION: version, IMAGE_REPOSITORY: "" }, command);
  const listed = (machine: ShellMachine, version = "all") => {
    const { status, stdout } = run(machine, version, "list_updates");
    assert.equal(status, 0, stdout);
    return stdout.split("\n").slice(0, -1);
  };

  it("lists all, or those of the archives of security updates, with what they need, and none of Kubernetes", () => {
    const security = ["bash=5.2-2", "libdep=1-1", "libssl3=3.0.15-1", "openssl=3.0.15-1"];
    assert.deepEqual(listed(machineWith(), "security"), security);
    assert.deepEqual(listed(machineWith()), [
      "bash=5.2-2",
      "libdep=1-1",
      "libssl3=3.0.15-1",
      "linux-image-6.12.9-amd64=6.12.9-1",
      "openssl=3.0.15-1",
      "tzdata=2026b-0",
    ]);
    assert.deepEqual(listed(machineWith({ plan: "" })), []);
  });

  it("lists what an interrupted installation left halfway, and a reboot that the machine asks for", () => {
    const machine = machineWith({ plan: "", packages: "'iF  libfoo=2-1' 'rc  gone=1'" });
    machine.write("/run/reboot-required", "");
    assert.deepEqual(listed(machine), ["libfoo=2-1", "reboot"]);
    assert.deepEqual(listed(machine, "security-without-reboot"), ["libfoo=2-1"]);
    machine.program("systemd-detect-virt", "exit 0");
    assert.deepEqual(listed(machine), ["libfoo=2-1"]);
  });

  it("says why it could not list them", () => {
    const machine = machineWith();
    machine.program("apt-get", "echo 'E: Unable to parse package file'; exit 100");
    const { status, stdout } = run(machine, "all", "list_updates");
    assert.deepEqual([status, stdout], [1, "apt-get: E: Unable to parse package file \n"]);
  });

  const install = (machine: ShellMachine) => {
    machine.write("/run/list", "libdep=1-1\nopenssl=3.0.15-1\nreboot\n");
    return run(machine, "all", `install_listed_updates ${machine.path("/run/list")}`);
  };
  const callsOf = (machine: ShellMachine) =>
    readFileSync(machine.path("/run/calls"), "utf8")
      .split("\n")
      .filter((call) => call !== "" && !call.includes("--simulate"));

  it("installs exactly the versions of a list, and leaves who wanted the packages as it was", () => {
    const machine = machineWith();
    const { status, stdout } = install(machine);
    assert.equal(status, 0, stdout);
    const calls = callsOf(machine);
    assert.equal(calls.length, 4, calls.join("\n"));
    assert.match(
      calls.find((call) => call.includes(" install ")) ?? "",
      /--no-remove install --no-install-recommends libdep=1-1 openssl=3\.0\.15-1$/,
    );
    assert.equal(calls.at(-1), "apt-mark auto libdep");
  });

  it("ends for good with the package manager's own words when dpkg fails", () => {
    const machine = machineWith({
      installation: `printf '%s\\n' 'Setting up openssl' 'dpkg: error processing package openssl (--configure):' ' post-installation script returned 1' 'E: Sub-process /usr/bin/dpkg returned an error code (1)'; exit 100`,
    });
    const { status, stdout } = install(machine);
    assert.equal(status, 65);
    assert.match(
      stdout,
      /dpkg: error processing package openssl \(--configure\): post-installation script returned 1 ?\n$/,
    );
  });
});
