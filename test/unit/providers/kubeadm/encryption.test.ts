import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type EncryptionKeys,
  nextPhase,
  refuseDifferentKeys,
  rotationSteps,
} from "../../../../providers/kubeadm/plan/encryption/encryption";
import { refuseSpecificationChange } from "../../../../providers/kubeadm/plan/configuration/immutables";
import { encryptionKeySteps } from "../../../../providers/kubeadm/plan/steps";
import { exampleSpecification } from "./machine/examples";

const [OLD, NEW] = ["foresail-1", "foresail-2"];
const described = (names: readonly string[]) => names.map((name) => ({ name, fingerprint: `of ${name}` }));
const observe = (machine: string, file: readonly string[], loaded = file): EncryptionKeys => ({
  machine,
  file: described(file),
  loaded: described(loaded),
});

describe("the rotation of the encryption key", () => {
  const cases: [string, EncryptionKeys[], boolean, unknown][] = [
    [
      "adds the key as the second one",
      [observe("cp-1", [OLD]), observe("cp-2", [OLD])],
      false,
      { phase: "add", changes: ["cp-1 1,2", "cp-2 1,2"] },
    ],
    [
      "adds it only where it is missing, and where the API server has not read it",
      [observe("cp-1", [OLD, NEW]), observe("cp-2", [OLD, NEW], [OLD]), observe("cp-3", [OLD])],
      false,
      { phase: "add", changes: ["cp-2 1,2", "cp-3 1,2"] },
    ],
    [
      "restarts an API server that does not run",
      [observe("cp-1", [OLD, NEW]), observe("cp-2", [OLD, NEW], [])],
      false,
      { phase: "add", changes: ["cp-2 1,2"] },
    ],
    [
      "encrypts with the key once every API server has read it",
      [observe("cp-1", [OLD, NEW]), observe("cp-2", [NEW, OLD])],
      false,
      { phase: "promote", changes: ["cp-1 2,1"] },
    ],
    [
      "rewrites the Secrets once every API server encrypts with it",
      [observe("cp-1", [NEW, OLD]), observe("cp-2", [NEW, OLD])],
      false,
      { phase: "rewrite" },
    ],
    [
      "removes the old key once every Secret is rewritten",
      [observe("cp-1", [NEW, OLD]), observe("cp-2", [NEW])],
      true,
      { phase: "remove", changes: ["cp-1 2"] },
    ],
    [
      "rewrites the Secrets again after a kill among the removals",
      [observe("cp-1", [NEW, OLD]), observe("cp-2", [NEW])],
      false,
      { phase: "rewrite" },
    ],
    ["has nothing to do on a cluster that was made with the key", [observe("cp-1", [NEW])], false, undefined],
    [
      "keeps the keys of a rotation that was not completed",
      [observe("cp-1", ["foresail-0", OLD]), observe("cp-2", [OLD, "foresail-0"])],
      false,
      { phase: "add", changes: ["cp-1 0,1,2", "cp-2 1,0,2"] },
    ],
  ];
  for (const [title, observed, rewritten, expected] of cases)
    it(title, () => {
      const next = nextPhase(observed, NEW, rewritten);
      const changes =
        next && "changes" in next
          ? next.changes.map(({ machine, keys }) => `${machine} ${keys.map((key) => key.slice(9)).join(",")}`)
          : undefined;
      assert.deepEqual(next && { phase: next.phase, ...(changes ? { changes } : {}) }, expected);
    });

  it("lists each phase on every control plane before the next one", () => {
    assert.deepEqual(rotationSteps(["cp-1", "cp-2"], 1, 2).map(encryptionKeySteps.format), [
      "cp-1: add the encryption key foresail-2, restart its API server",
      "cp-2: add the encryption key foresail-2, restart its API server",
      "cp-1: encrypt Secrets with foresail-2, restart its API server",
      "cp-2: encrypt Secrets with foresail-2, restart its API server",
      "cluster: write every Secret again, encrypted with foresail-2",
      "cp-1: remove the encryption keys before foresail-2, restart its API server",
      "cp-2: remove the encryption keys before foresail-2, restart its API server",
    ]);
    assert.deepEqual(rotationSteps(["cp-1"], 2, 2), []);
  });

  it("refuses control planes whose keys with the same name differ, and shows no fingerprint", () => {
    const other = { ...observe("cp-2", [OLD]), file: [{ name: OLD, fingerprint: "0123456789ab" }] };
    const why = refuseDifferentKeys([observe("cp-1", [OLD]), other]);
    assert.match(why ?? "", /foresail-1 of cp-2 is not that of cp-1/);
    assert.doesNotMatch(why ?? "", /0123456789ab/);
    assert.equal(refuseDifferentKeys([observe("cp-1", [OLD, NEW]), observe("cp-2", [NEW])]), undefined);
  });

  it("can't go back to an earlier key", () => {
    const of = (generation?: number) => exampleSpecification({ encryptionKeyGeneration: generation });
    for (const [olds, news] of [
      [3, 2],
      [2, undefined],
    ])
      assert.deepEqual(
        refuseSpecificationChange(of(olds), of(news)).map(({ property }) => property),
        ["cluster.encryptionKeyGeneration"],
      );
    assert.deepEqual(refuseSpecificationChange(of(), of(3)), []);
  });

  it("leaves every Secret readable on every API server at every moment, whatever is killed, joins or restarts", () => {
    const event = fc.record({ kind: fc.constantFrom("write", "restart", "none"), at: fc.nat(9) });
    const run = fc.record({
      isNew: fc.boolean(),
      effects: fc.integer({ min: 0, max: 25 }),
      join: fc.option(fc.nat(9), { freq: 3 }),
      leave: fc.option(fc.nat(9), { freq: 6 }),
      events: fc.array(event, { minLength: 1, maxLength: 12 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), fc.array(run, { maxLength: 6 }), (count, runs) => {
        const cluster = new ModelCluster(count);
        let generation = 1;
        for (const { isNew, effects, join, leave, events } of runs) {
          if (join !== null) cluster.join(join);
          if (leave !== null) cluster.leave(leave);
          if (isNew) generation++;
          cluster.rotate(`foresail-${generation}`, effects, events);
        }
        cluster.rotate(`foresail-${generation}`, Infinity, [{ kind: "write", at: 0 }]);
        cluster.expectOnly(`foresail-${generation}`);
      }),
      { numRuns: Number(process.env.FORESAIL_SCENARIOS ?? 300) },
    );
  });
});

/** Control planes with their keys, and the key of each Secret in etcd. */
class ModelCluster {
  private planes: { name: string; file: string[]; loaded: string[] }[] = [];
  private readonly secrets = [OLD, OLD];
  private joined = 0;

  constructor(count: number) {
    for (let at = 0; at < count; at++) this.add([OLD]);
  }

  /** A new control plane has the configuration of one that is in the cluster. */
  join(from: number): void {
    this.add([...this.at(from).file]);
  }

  leave(at: number): void {
    if (this.planes.length > 1) this.planes = this.planes.filter((plane) => plane !== this.at(at));
    this.expectReadable();
  }

  /** Runs a rotation, which is killed after some of its effects; between them the cluster lives on. */
  rotate(target: string, effects: number, events: { kind: string; at: number }[]): void {
    let rewritten = false;
    let left = effects;
    const effect = (work: () => void): boolean => {
      if (left-- <= 0) return false;
      work();
      this.expectReadable();
      const { kind, at } = events[Math.abs(left) % events.length] ?? { kind: "none", at: 0 };
      if (kind === "restart") this.at(at).loaded = [...this.at(at).file];
      if (kind === "write") this.secrets[at % this.secrets.length] = this.at(at).loaded[0]!;
      this.expectReadable();
      return true;
    };
    for (;;) {
      const observed = this.planes.map(({ name, file, loaded }) => observe(name, file, loaded));
      const next = nextPhase(observed, target, rewritten);
      if (next === undefined) return;
      if (next.phase === "rewrite") {
        for (let at = 0; at < this.secrets.length; at++)
          if (!effect(() => (this.secrets[at] = this.at(at).loaded[0]!))) return;
        rewritten = this.secrets.every((key) => key === target);
        assert.ok(rewritten);
      } else
        for (const { machine, keys } of next.changes) {
          const plane = this.planes.find(({ name }) => name === machine)!;
          if (!effect(() => (plane.file = [...keys]))) return;
          if (!effect(() => (plane.loaded = [...plane.file]))) return;
        }
    }
  }

  expectOnly(key: string): void {
    for (const { file, loaded } of this.planes) assert.deepEqual([file, loaded], [[key], [key]]);
    assert.ok(this.secrets.every((one) => one === key));
  }

  private add(file: string[]): void {
    this.planes.push({ name: `cp-${++this.joined}`, file, loaded: [...file] });
  }

  private at(index: number) {
    return this.planes[index % this.planes.length]!;
  }

  private expectReadable(): void {
    for (const { name, file, loaded } of this.planes)
      for (const key of this.secrets) {
        assert.ok(loaded.includes(key), `${name} can't decrypt with ${loaded.join()} what ${key} encrypts`);
        assert.ok(file.includes(key), `${name} could not decrypt ${key} after a restart with ${file.join()}`);
      }
  }
}
