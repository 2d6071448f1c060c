import assert from "node:assert/strict";
import { ShellMachine } from "./run-shell";

describe("files for the kernel", () => {
  it("load their modules and settings each time they are written, and name a file that it does not take", () => {
    const parameters = {
      FILE_PATHS: ["/etc/sysctl.d/10-site.conf", "/etc/modules-load.d/site.conf", "/opt/a.conf"],
      FILE_MODES: ["0644", "0644", "0600"],
      FILE_OWNERS: ["", "", ""],
      FILE_CONTENTS: ["net.a = 1\n-net.b = 2\n", "# for storage\nnbd\nrbd ; both\n\n", "x"],
    };
    const run = (modprobe: string, isContainer = false) => {
      const machine = new ShellMachine();
      machine.program("systemd-detect-virt", `exit ${isContainer ? 0 : 1}`);
      machine.program("modprobe", modprobe);
      machine.program("sysctl", 'echo "sysctl $*: $(cat)" >&3');
      const commands = "exec 3>&1; write_user_files; load_kernel_files";
      return machine.run({ "common/settings": "all" }, parameters, commands);
    };
    const settings = "sysctl --quiet --load=-: net.a = 1\nsysctl --quiet --ignore --load=-: net.b = 2\n";
    assert.equal(run('echo "modprobe $*" >&3').stdout, `modprobe --all -- nbd rbd\n${settings}`);
    assert.equal(run("exit 1", true).stdout, settings);
    const refused = run("echo 'modprobe: FATAL: Module nbd not found'; exit 1");
    assert.notEqual(refused.status, 0);
    assert.match(
      refused.stdout,
      /the kernel does not load the modules of .*\/etc\/modules-load\.d\/site\.conf: modprobe: FATAL: Module nbd not found; correct the file/,
    );
  });
});
