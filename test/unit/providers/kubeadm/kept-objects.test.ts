import assert from "node:assert/strict";
import fc from "fast-check";
import type { NewObject } from "../../../../lib/kubernetes/objects";
import { UNKNOWN } from "../../../../lib/unknown";
import {
  allKeptObjects,
  editedPaths,
  keptObjects,
  keptObjectSteps,
  type KeptReading,
  restoringFields,
} from "../../../../providers/kubeadm/plan/cluster/kept-objects";
import { readerAccountSteps } from "../../../../providers/kubeadm/plan/steps";
import { readStep } from "../../../../cli/review/steps";

const ANNOTATIONS = "[software].example.com";
const ALL = allKeptObjects(ANNOTATIONS);
const live = (object: NewObject): NewObject => structuredClone(object);
const readings = (objects: readonly NewObject[]): KeptReading[] =>
  objects.map((object) => ({ live: live(object) }));
const lines = (...args: Parameters<typeof keptObjectSteps>) =>
  keptObjectSteps(...args).map(readerAccountSteps.format);

/** Applies a JSON merge patch. */
function merged(before: unknown, patch: unknown): unknown {
  const isMap = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isMap(patch)) return patch;
  const result: Record<string, unknown> = isMap(before) ? { ...before } : {};
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  return result;
}

describe("the objects that foresail keeps in a cluster", () => {
  it("lists no step before the first run, without a cluster, and when all are as they were written", () => {
    assert.deepEqual(lines(ALL, [], "refused"), []);
    assert.deepEqual(lines(ALL, ALL, undefined), []);
    assert.deepEqual(lines(ALL, ALL, readings(ALL)), []);
  });

  it("lists each that was deleted, and each that could not be read, with the reason once", () => {
    const found: KeptReading[] = readings(ALL);
    found[1] = { live: undefined };
    found[2] = { unread: "403 Forbidden\nno: \u202e" };
    assert.deepEqual(lines(ALL, ALL, found), [
      "cluster: restore the ClusterRole foresail-reader (deleted)",
      "cluster: not compared, since it could not be read: ClusterRoleBinding foresail-reader; 403 Forbidden\\u{a}no: \\u{202e}",
    ]);
    const [step] = lines(ALL, ALL, "no API server answers: 1; 2");
    const review = readStep("ReaderAccount", step!);
    assert.deepEqual([review.role, review.danger(() => false)], ["unread", "unread"]);
  });

  it("creates and updates what an earlier release did not write, by name", () => {
    const older = keptObjects({
      ...{ annotations: ANNOTATIONS, hasPolicy: true, configuration: true, drift: true, certificates: false },
      updates: false,
      comparesAll: false,
      owner: undefined,
    });
    const found: KeptReading[] = ALL.map((object) => ({
      live: older.find(
        ({ kind, metadata }) => kind === object.kind && metadata.name === object.metadata.name,
      ),
    }));
    assert.deepEqual(lines(ALL, older, found), [
      "cluster: update the ClusterRole foresail-reader",
      "cluster: update the Role foresail-reader",
      "cluster: create the Lease foresail",
      "cluster: create the ConfigMap foresail-history",
    ]);
    assert.deepEqual(lines(older, older, readings(older)), []);
  });

  it("finds every change of every field, and its patch undoes it", () => {
    const withFields = ALL.filter((object) => Object.keys(object).length > 3);
    assert.ok(withFields.length >= 6);
    const value = fc.oneof(fc.constant(UNKNOWN), fc.string(), fc.constant([]), fc.constant({ a: "b" }));
    fc.assert(
      fc.property(
        fc.constantFrom(...withFields),
        fc.infiniteStream(fc.nat()),
        value,
        (object, choose, other) => {
          const changed = live(object);
          const fields = Object.keys(changed).filter(
            (key) => !["apiVersion", "kind", "metadata"].includes(key),
          );
          let at = changed as Record<string, unknown>;
          let key = fields[choose.next().value! % fields.length]!;
          for (;;) {
            const next = at[key];
            if (typeof next !== "object" || next === null || choose.next().value! % 3 === 0) break;
            const keys = [...Object.keys(next), ...(Array.isArray(next) ? [] : ["added"])];
            if (keys.length === 0) break;
            at = next as Record<string, unknown>;
            key = keys[choose.next().value! % keys.length]!;
          }
          fc.pre(JSON.stringify(at[key]) !== JSON.stringify(other));
          at[key] = other;
          assert.notDeepEqual(editedPaths(object, changed), []);
          const restored = merged(changed, restoringFields(object, changed)) as NewObject;
          assert.deepEqual(editedPaths(object, restored), []);
        },
      ),
    );
  });

  it("ignores what the API server adds, metadata of others, and the content of the Lease and the history", () => {
    for (const object of ALL) {
      const more = live(object);
      more.metadata = { ...more.metadata, labels: { a: "b" }, resourceVersion: "7" };
      more.status = { observedGeneration: 1 };
      if (["Lease", "ConfigMap", "ServiceAccount"].includes(object.kind)) more.data = { history: "a\n" };
      assert.deepEqual(editedPaths(object, more), [], object.kind);
      assert.equal(restoringFields(object, more), undefined);
    }
  });
});
