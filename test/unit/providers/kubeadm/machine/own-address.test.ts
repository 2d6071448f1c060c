import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { prepareScript } from "../../../../../providers/kubeadm/machine/steps";
import { exampleMachine, exampleSpecification } from "./examples";
import { ShellMachine } from "./run-shell";

/** What the program that the step writes to the machine does, with an `ip` that has these addresses. */
function run(address: string, present: string[]): string {
  const machine = new ShellMachine();
  const lines = present.map((one) => `1: eth0    inet ${one}/24 brd 10.0.0.255 scope global eth0`).join("\n");
  machine.program("ip", `if [ "$1" = -oneline ]; then echo '${lines}'; else echo "ip $*"; fi`);
  machine.program("systemctl", "");
  const { stdout, stderr, status } = machine.run(
    { "common/own-address": ["hold_own_address"] },
    {},
    `hold_own_address ${address}; $(sed -n 's/^ExecStart=//p' ${NODE_PATHS.ownAddressUnit})`,
  );
  assert.deepEqual([stderr, status], ["", 0]);
  return stdout.trim();
}

describe("the address by which other nodes reach a machine", () => {
  it("is put on the loopback device when no device has it", () => {
    assert.equal(run("203.0.113.7", ["10.0.0.5"]), "ip address add 203.0.113.7/32 dev lo");
  });

  it("is left where it is, and not mistaken for one with the same prefix", () => {
    assert.equal(run("203.0.113.7", ["203.0.113.7"]), "");
    assert.equal(run("203.0.113.7", ["203.0.113.70"]), "ip address add 203.0.113.7/32 dev lo");
  });

  it("is put on the machines of a specification that asks for it, and on no others", () => {
    const { network } = exampleSpecification();
    const asked = exampleSpecification({ network: { ...network, holdNodeAddress: true } });
    const text = (specification: typeof asked) =>
      prepareScript(specification, exampleMachine("w-1"), []).text;
    assert.match(text(asked), /^HOLD_ADDRESS='yes'$/m);
    assert.match(text(exampleSpecification()), /^HOLD_ADDRESS='no'$/m);
    const { stderr, status } = spawnSync("bash", ["-n"], {
      input: `{\n${text(asked)}\n}\n`,
      encoding: "utf8",
    });
    assert.deepEqual([stderr, status], ["", 0]);
  });

  it("is removed by a reset, which does nothing on a machine that has none", () => {
    const machine = new ShellMachine();
    for (const program of ["ip", "systemctl"]) machine.program(program, `echo ${program} "$@"`);
    const release = () =>
      machine.run({ "common/own-address": ["release_own_address"] }, {}, "release_own_address").stdout;
    assert.equal(release(), "");
    const file = NODE_PATHS.ownAddressUnit;
    machine.write(file, "[Service]\nExecStart=/usr/local/lib/foresail/own-address 203.0.113.7\n");
    assert.equal(
      release(),
      "systemctl disable --quiet --now foresail-own-address\nip address delete 203.0.113.7/32 dev lo\n",
    );
    assert.equal(existsSync(machine.path(file)), false);
  });
});
