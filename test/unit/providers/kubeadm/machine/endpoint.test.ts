import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { ShellMachine } from "./run-shell";

/** The seconds of a setting of haproxy's checks, such as `inter 10s`. */
function secondsOf(configuration: string, setting: string): number {
  return Number(new RegExp(` ${setting} (\\d+)s `).exec(configuration)?.[1]);
}

describe("the loopback endpoint of a machine", () => {
  const machine = new ShellMachine();
  const configure = (backends: string[]) => {
    machine.program("systemctl", 'echo "$@"');
    const answer = machine.run(
      { "common/endpoint": ["configure_endpoint"] },
      { PORT: 8443, BACKENDS: backends },
      "configure_endpoint",
    );
    assert.deepEqual([answer.stderr, answer.status], ["", 0]);
    const configuration = readFileSync(machine.path(NODE_PATHS.haproxy), "utf8");
    return { configuration, calls: answer.stdout.split("\n") };
  };

  it("forwards to every control plane, and is reloaded only for other control planes", () => {
    const { configuration } = configure(["cp-1 192.0.2.1:6443", "cp-2 192.0.2.2:6443"]);
    // with checks, and once more without for when no control plane passes them
    assert.equal(
      configuration.split("\n  server cp-1 192.0.2.1:6443\n  server cp-2 192.0.2.2:6443\n").length,
      3,
    );
    assert.ok(
      !configure(["cp-1 192.0.2.1:6443", "cp-2 192.0.2.2:6443"]).calls.some((c) => c.startsWith("reload")),
    );
    assert.ok(configure(["cp-1 192.0.2.1:6443"]).calls.some((call) => call.startsWith("reload")));
  });

  it("costs a ready control plane at most 50 checks a second from 500 nodes", () => {
    const { configuration } = configure(["cp-1 192.0.2.1:6443"]);
    assert.ok(500 / secondsOf(configuration, "inter") <= 50);
    assert.match(configuration, /option httpchk GET \/readyz\n/);
  });

  it("sends a failed connection to another control plane, and checks that one every second then", () => {
    const { configuration } = configure(["cp-1 192.0.2.1:6443"]);
    assert.match(configuration, /option redispatch 1\n/);
    assert.match(configuration, / observe layer4 error-limit 1 on-error fastinter /);
    assert.equal(secondsOf(configuration, "fastinter"), 1);
  });
});
