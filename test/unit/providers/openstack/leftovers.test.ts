import assert from "node:assert/strict";
import fc from "fast-check";
import { carriesMark, markedDescription } from "../../../../lib/pulumi/marks";
import {
  leftoverLine,
  leftoversOf,
  OBJECT_KINDS,
  type MarkedObject,
} from "../../../../providers/openstack/plan/leftovers";

const object = (kind: MarkedObject["kind"], id: string, over: Partial<MarkedObject> = {}): MarkedObject => ({
  kind,
  id,
  name: `${id}-name`,
  ...over,
});
const deleted = (objects: MarkedObject[], known: string[] = []) =>
  leftoversOf(objects, new Set(known)).deleted.map(({ id }) => id);

describe("leftovers of an interrupted run", () => {
  it("are marked objects that are not in the state", () => {
    const objects = [object("network", "n"), object("port", "p"), object("keypair", "k")];
    assert.deepEqual(deleted(objects, ["n", "k"]), ["p"]);
    assert.deepEqual(deleted(objects, ["n", "p", "k"]), []);
  });

  it("are deleted in the order of their dependencies", () => {
    const objects = [
      object("network", "n"),
      object("router", "r"),
      object("subnet", "s"),
      object("router interface", "i", { within: "r" }),
      object("port", "p", { serves: "v" }),
      object("server", "v"),
      object("floating IP", "f", { serves: "p" }),
    ];
    assert.deepEqual(deleted(objects), ["f", "v", "p", "i", "s", "r", "n"]);
  });

  it("exclude servers that have been ready, and what serves them", () => {
    const objects = [
      object("server", "v", { initialized: true }),
      object("port", "p", { serves: "v" }),
      object("floating IP", "f", { serves: "p" }),
      object("port", "q"),
    ];
    const { deleted: gone, kept } = leftoversOf(objects, new Set());
    assert.deepEqual(
      gone.map(({ id }) => id),
      ["q"],
    );
    assert.match(
      kept.join("\n"),
      /^the server v-name \(v\) .* has worked, and is not in the state: import it/,
    );
  });

  it("exclude ports and floating IPs of what is in the state", () => {
    const objects = [
      object("server", "v"),
      object("port", "p", { serves: "v" }),
      object("floating IP", "f", { serves: "p" }),
    ];
    assert.deepEqual(deleted(objects, ["v"]), []);
    assert.deepEqual(deleted(objects, ["v", "p"]), []);
  });

  it("never include what the state has or what a kept one needs", () => {
    const ids = fc.constantFrom("a", "b", "c", "d", "e");
    const objects = fc.uniqueArray(
      fc.record({
        kind: fc.constantFrom(...(Object.keys(OBJECT_KINDS) as (keyof typeof OBJECT_KINDS)[])),
        id: ids,
        name: fc.constant("x"),
        serves: fc.option(ids, { nil: undefined }),
        initialized: fc.boolean(),
      }),
      { selector: ({ id }) => id },
    );
    fc.assert(
      fc.property(objects, fc.uniqueArray(ids), (all, known) => {
        const seen = all.map(({ serves, ...others }) => ({ ...others, ...(serves ? { serves } : {}) }));
        const gone = new Set(deleted(seen, known));
        for (const { id, serves, initialized } of seen) {
          if (!gone.has(id)) continue;
          assert.ok(!known.includes(id) && !initialized);
          assert.ok(serves === undefined || gone.has(serves));
        }
      }),
    );
  });

  it("are listed by their descriptions", () => {
    assert.ok(carriesMark(markedDescription("0a"), "0a"));
    assert.ok(carriesMark(markedDescription("0a", "the kubelet"), "0a"));
    for (const description of [undefined, null, "", "foresail 0b", "by hand", markedDescription("0b", "0a")])
      assert.ok(!carriesMark(description, "0a"), String(description));
    assert.equal(
      leftoverLine(object("port", "p")),
      "delete the port p-name, which a run that was cut off made and did not record",
    );
  });
});
