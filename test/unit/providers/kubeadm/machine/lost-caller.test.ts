import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { ShellMachine } from "./run-shell";

describe("a step whose caller is gone", () => {
  it("records how it ended when it can't write its answer, and its programs end by the signal", () => {
    const host = new ShellMachine();
    for (const folder of ["/run", "/etc", "/var/log", "/var/lib"]) host.write(`${folder}/README`, "");
    const { status } = host.run(
      { "common/frame": "all" },
      { OPERATION: "facts" },
      `exec 4> >(:); wait $!
bash -c 'kill -PIPE $$' || echo "program $?"
echo answer >&4
echo never`,
    );
    assert.equal(status, 1);
    const log = readFileSync(host.path(`${NODE_PATHS.logs}/facts.log`), "utf8");
    assert.match(log, /^program 141$/m);
    assert.match(log, / facts ended with 1$/m);
    assert.doesNotMatch(log, /^never$/m);
  });
});
