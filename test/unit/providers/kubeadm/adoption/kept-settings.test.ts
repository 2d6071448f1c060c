import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject } from "../../../../../lib/merge";
import {
  mergeKept,
  withoutWritten,
  writtenByEither,
} from "../../../../../providers/kubeadm/plan/adoption/kept-settings";

/** What an administrator wrote: an argument that is there twice, one that a stack may change, an empty object. */
const THEIRS: JsonObject = {
  apiVersion: "kubeadm.k8s.io/v1beta4",
  apiServer: {
    certSANs: ["127.0.0.1"],
    extraArgs: [
      { name: "service-account-issuer", value: "https://one" },
      { name: "profiling", value: "true" },
      { name: "service-account-issuer", value: "https://two" },
    ],
  },
  scheduler: {},
  networking: { podSubnet: "10.245.0.0/16" },
};
const argument = (name: string, value: string) => ({ name, value });
const merge = (desired: JsonObject, object = THEIRS, written = mergeKept(THEIRS, [], {}).written) =>
  mergeKept(object, written, desired);

describe("a stack's settings in an object that others made", () => {
  it("are added beside what is there, in its order", () => {
    const { object } = merge({
      apiServer: {
        extraArgs: [argument("profiling", "false"), argument("v", "4")],
        extraVolumes: [{ name: "audit", hostPath: "/a" }],
      },
    });
    assert.deepEqual(object, {
      ...THEIRS,
      apiServer: {
        certSANs: ["127.0.0.1"],
        extraArgs: [
          argument("service-account-issuer", "https://one"),
          argument("profiling", "false"),
          argument("service-account-issuer", "https://two"),
          argument("v", "4"),
        ],
        extraVolumes: [{ name: "audit", hostPath: "/a" }],
      },
    });
    assert.deepEqual(Object.keys(object), Object.keys(THEIRS));
  });

  it("give the value from before back when they go away, with the objects that they brought", () => {
    const first = merge({
      apiServer: { extraArgs: [argument("profiling", "false")], extraVolumes: [{ name: "audit" }] },
      scheduler: { extraEnvs: [argument("A", "b")], timeout: { a: { b: 1, c: 2 } } },
    });
    const second = merge({ scheduler: { timeout: { a: { c: 2 } } } }, first.object, first.written);
    assert.deepEqual(second.object, { ...THEIRS, scheduler: { timeout: { a: { c: 2 } } } });
    const third = merge({}, second.object, second.written);
    assert.deepEqual(third, { object: THEIRS, written: [] });
  });

  it("that are the cluster's own are not recorded, so they stay", () => {
    const same = { apiServer: { certSANs: ["127.0.0.1"], extraArgs: [argument("profiling", "true")] } };
    assert.deepEqual(merge(same), { object: THEIRS, written: [] });
  });

  it("keep what others change beside them later", () => {
    const { object, written } = merge({ apiServer: { extraArgs: [argument("v", "4")] } });
    const later = { ...object, scheduler: { extraArgs: [argument("v", "9")] } };
    assert.deepEqual(merge({}, later, written).object, { ...THEIRS, scheduler: later.scheduler });
  });

  it("replace all arguments of a name that is there several times", () => {
    const issuer = [argument("service-account-issuer", "https://three")];
    const { object, written } = merge({ apiServer: { extraArgs: issuer } });
    const { extraArgs } = object.apiServer as { extraArgs: object[] };
    assert.deepEqual(extraArgs, [...issuer, argument("profiling", "true")]);
    const back = withoutWritten(object, written).apiServer as { extraArgs: object[] };
    assert.equal(back.extraArgs.length, 3);
  });

  const settings = () => {
    const name = fc.constantFrom("a", "b", "c");
    const list = fc.uniqueArray(fc.record({ name, value: fc.constantFrom("1", "2") }), {
      selector: (item) => item.name,
      minLength: 1,
    });
    const leaf = fc.oneof(list, fc.integer({ min: 0, max: 2 }));
    return fc.dictionary(name, fc.dictionary(fc.constantFrom("args", "deep"), leaf, { minKeys: 1 }));
  };
  // one kind of value at each path, as in a typed object
  const typed = (value: object) => {
    const text = JSON.parse(JSON.stringify(value)) as Record<string, Record<string, unknown>>;
    for (const each of Object.values(text)) {
      if ("args" in each && !Array.isArray(each["args"])) each["args"] = [{ name: "x", value: "1" }];
      if ("deep" in each) each["deep"] = { it: JSON.stringify(each["deep"]) };
    }
    return text as JsonObject;
  };

  it("are undone completely by any later change, also by one that follows a kill", () => {
    fc.assert(
      fc.property(settings(), settings(), settings(), fc.boolean(), (theirs, one, other, isKilled) => {
        const original = typed(theirs);
        const first = mergeKept(original, [], typed(one));
        const second = mergeKept(first.object, first.written, typed(other));
        const either = writtenByEither(first.written, second.written);
        const [object, written] = isKilled ? [first.object, either] : [second.object, either];
        assert.deepEqual(sorted(withoutWritten(object, written)), sorted(original));
        assert.deepEqual(sorted(mergeKept(object, written, typed(other)).object), sorted(second.object));
        assert.deepEqual(mergeKept(original, [], typed(other)).written, second.written);
      }),
    );
  });
});

/** Orders lists by name: a list's entries that went and came back are at its end. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return (value as { name: string }[]).toSorted((one, two) => (one.name < two.name ? -1 : 1));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, sorted(child)]));
}
