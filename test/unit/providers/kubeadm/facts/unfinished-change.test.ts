import assert from "node:assert/strict";
import { parseMachineFacts } from "../../../../../providers/kubeadm/machine/facts/facts-script";
import type { ReadFacts } from "../../../../../providers/kubeadm/plan/facts/machine-facts";
import { unfinishedChange } from "../../../../../providers/kubeadm/plan/facts/unfinished-change";

const said = (changing: string) =>
  parseMachineFacts(`marker \nidentity \nchanging ${Buffer.from(changing).toString("base64")}\n`);

describe("a change of a control plane in whose middle a run ended", () => {
  for (const [changing, seconds] of [
    ["0\n", 1200],
    ["10\n", 1190],
    ["1199", 1],
    // its time is over, or it says nothing of use
    ["1200", undefined],
    ["99999999", undefined],
    ["", undefined],
    ["-5", undefined],
    ["\u001b[31m", undefined],
  ] as const)
    it(`is waited for ${seconds ?? "no"} seconds when the machine says ${JSON.stringify(changing)}`, () => {
      const expected = seconds === undefined ? undefined : { machine: "cp-1", seconds };
      assert.deepEqual(unfinishedChange(new Map([["cp-1", said(changing)]])), expected);
    });

  it("is waited for as long as the configured limit of a node allows", () => {
    const facts = new Map([["cp-1", said("10")]]);
    assert.deepEqual(unfinishedChange(facts, 3_600), { machine: "cp-1", seconds: 3_590 });
    assert.equal(unfinishedChange(facts, 10), undefined);
  });

  it("is that which may take longest, and none of a machine that does not answer", () => {
    const facts = new Map<string, ReadFacts>([
      ["cp-1", { unread: "no answer" }],
      ["cp-2", said("600")],
      ["cp-3", said("20")],
    ]);
    assert.deepEqual(unfinishedChange(facts), { machine: "cp-3", seconds: 1180 });
    assert.equal(unfinishedChange(new Map([["cp-1", { unread: "no answer" }]])), undefined);
  });
});
