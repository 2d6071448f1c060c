import assert from "node:assert/strict";
import { machinesInState } from "../../../cli/engine/machines-in-state";
import { explainEngineError } from "../../../cli/engine/engine-messages";
import { parseJson, readJsonObjectOf, readJsonOf } from "../../../lib/json";
import { readHolder } from "../../../lib/kubernetes/lease-holder";
import { parseEtcdMembers } from "../../../providers/kubeadm/machine/membership/etcd-steps";
import { parseWritten } from "../../../providers/kubeadm/plan/adoption/adopted-configuration";
import { parseRecord } from "../../../providers/kubeadm/plan/configuration/configuration-record";

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
/** Deeper than what walks through values can follow. */
const DEEP = nested(100_000);

describe("JSON from outside", () => {
  it("is read up to 500 levels, and else refused with its source and nothing of its content", () => {
    assert.deepEqual(readJsonOf("the state", '{"a":[1]}'), { a: [1] });
    assert.notEqual(parseJson(nested(500)), undefined);
    for (const text of [nested(501), DEEP, "", "{", "token: hunter2"])
      assert.throws(() => readJsonOf("the state", text), {
        message: "the state is not JSON, or is nested more than 500 levels deep",
      });
    for (const text of ["null", "[]", "1", '"a"'])
      assert.throws(() => readJsonObjectOf("the state", text), { message: "the state is not a JSON object" });
  });

  const refusing: [what: string, read: () => unknown, why: RegExp][] = [
    ["a stack's state", () => machinesInState(DEEP), /^the output of pulumi stack export is not JSON/],
    ["a list that stands for a state", () => machinesInState("[]"), /stack export is not a JSON object/],
    ["etcd's members", () => parseEtcdMembers(DEEP), /^etcd's member list is not JSON/],
    ["etcd's members that are null", () => parseEtcdMembers("null"), /^etcd's member list is not a JSON/],
    [
      "the record of written settings",
      () => parseWritten({ clusterConfiguration: DEEP }),
      /^what foresail wrote into clusterConfiguration is not JSON/,
    ],
  ];
  for (const [what, read, why] of refusing)
    it(`is refused in words: ${what}`, () => assert.throws(read, (error: Error) => why.test(error.message)));

  it("is left out where it is not a condition: the record of configurations, the holder of a Lease", () => {
    assert.deepEqual(parseRecord(DEEP), {});
    const annotations = { "foresail/holder": DEEP };
    const lease = { metadata: { annotations }, spec: { holderIdentity: "someone" } };
    assert.equal(readHolder(lease as never)?.user, "someone");
  });

  it("is not searched for causes in more than linear time when it is an error of the engine", () => {
    const before = process.cpuUsage();
    assert.equal(explainEngineError(`unable to open bucket file://${"a".repeat(200_000)}`), undefined);
    assert.ok(process.cpuUsage(before).user < 8_000_000);
  });
});
