import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { stepFile } from "../../../../../providers/kubeadm/machine/operations";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { joinData } from "../../../../../providers/kubeadm/machine/steps";
import { ShellMachine } from "./run-shell";

const OWNER = "cluster=demo machine=cp-1";
const FAKES = `
await_containerd() { :; }; install_kubernetes() { :; }; import_images() { :; }; hasten_kubelet() { :; }
refuse_other_preparation() { :; }; record_configuration() { :; }`;

/** Runs a step on a machine that is not a member. @param mark the first line of its mark; empty for none */
function run(step: "init" | "join", mark: string) {
  const machine = new ShellMachine();
  for (const folder of [NODE_PATHS.scratch, "/var/lib/foresail"]) machine.write(`${folder}/README`, "");
  if (mark !== "") machine.write("/etc/foresail/machine", `${mark}\n`);
  machine.program("kubeadm", `touch ${machine.root}/kubeadm-ran`);
  const parameters = { MACHINE: "cp-1", OWNER, OWNER_ID: "", OWNER_STACK: "", TAKE_OVER: "" };
  const files = ["common/owner", "common/member", "common/kubeadm", "common/prepared"];
  const { status, stdout, stderr } = machine.step(
    stepFile(step === "join" ? "join-worker" : step),
    { ...parameters, AGENT: "no", ENCRYPTION_KEY: "", PREPARED: "", CONFIGURATION: "" },
    files,
    { data: joinData({ configuration: "c", discovery: "d" }), fakes: FAKES },
  );
  return { status, words: stdout + stderr, kubeadmRan: existsSync(machine.path("kubeadm-ran")) };
}

describe("a machine on which nothing is prepared", () => {
  const cases = [
    ["init", /cp-1: nothing is prepared on this machine.*; run `destroy`.*, then `up`/],
    ["join", /cp-1: nothing is prepared on this machine.*; take it out of the configuration/],
  ] as const;
  for (const [step, words] of cases) {
    it(`is refused by ${step} with the way on, before kubeadm runs`, () => {
      const found = run(step, "");
      assert.match(found.words, words);
      assert.deepEqual([found.status, found.kubeadmRan], [78, false]);
    });

    it(`is told from a prepared one, on which ${step} runs kubeadm`, () => {
      const found = run(step, OWNER);
      assert.deepEqual([found.status, found.kubeadmRan], [0, true], found.words);
    });
  }
});
