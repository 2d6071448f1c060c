import assert from "node:assert/strict";
import fc from "fast-check";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fleetSetVersion, withVersion } from "../../../../cli/fleet/commands/set";
import { planVersion, targetIssue, type VersionSource } from "../../../../cli/fleet/plan/set-version";

describe("the Kubernetes version of a set of stacks", () => {
  const layers = ["a", "b"] as const;
  /** Stacks over two layers; each layer has a version or none. */
  const anyProject = fc
    .record({
      ofLayers: fc.record({ a: fc.constantFrom("1", undefined), b: fc.constantFrom("1", undefined) }),
      stacks: fc.array(
        fc.record({
          layer: fc.constantFrom(...layers, undefined),
          own: fc.constantFrom("2", undefined),
          isChosen: fc.boolean(),
        }),
        { maxLength: 6 },
      ),
    })
    .map(({ ofLayers, stacks }) => {
      const all = stacks.map(({ layer, own }, at): VersionSource => ({
        ...{ stack: `s${at}`, system: "ssh", layer, own },
        below: layer === undefined ? undefined : ofLayers[layer],
      }));
      const chosen = new Set(all.map(({ stack }) => stack).filter((_, at) => stacks[at]!.isChosen));
      return { all, chosen };
    });

  it("is written so that each chosen stack gets it, and no other one does", () =>
    fc.assert(
      fc.property(anyProject, ({ all, chosen }) => {
        const { edits, issues } = planVersion(all, chosen);
        const without = all.filter(
          ({ stack, own, below }) => chosen.has(stack) && (own ?? below) === undefined,
        );
        assert.deepEqual(
          issues.map((issue) => issue.split(":")[0]),
          without.map(({ stack }) => stack),
        );
        for (const { stack, layer, own, below } of all) {
          const ofStack = edits.some((edit) => edit.stack === stack) ? "new" : own;
          const ofLayer = edits.some((edit) => edit.layer !== undefined && edit.layer === layer)
            ? "new"
            : below;
          const now = own ?? below;
          assert.equal(ofStack ?? ofLayer, chosen.has(stack) && now !== undefined ? "new" : now, stack);
        }
        const places = edits.map(({ stack, layer }) => `${stack}/${layer}`);
        assert.equal(new Set(places).size, places.length);
      }),
      { numRuns: 500 },
    ));

  it("is refused where another thing has it, and left out where there is none", () => {
    const source = (stack: string, system: string, own?: string): VersionSource => ({
      ...{ stack, system, own, below: undefined },
    });
    const all = [
      source("az", "azimuth"),
      source("shared", "ssh", "${shared.base.version}"),
      source("all", "collector"),
    ];
    const { edits, issues } = planVersion(all, new Set(["az", "shared", "all"]));
    assert.deepEqual(edits, []);
    assert.match(
      issues.join("\n"),
      /^az: .*azimuth\.templateName.*\nshared: its version is an output of another/,
    );
    assert.match(targetIssue("1.36") ?? "", /MAJOR\.MINOR\.PATCH/);
    assert.equal(targetIssue("1.36.4"), undefined);
  });

  it("changes nothing of a file but its characters", () => {
    const at = ["foresail:cluster", "version"];
    const file =
      "# why\nconfig:\n  foresail:cluster:   # the cluster\n    version: '1.36.3' # reviewed\n    name: x\n";
    assert.equal(withVersion(file, at, "1.36.4"), file.replace("'1.36.3'", '"1.36.4"'));
    assert.equal(
      withVersion("config:\n  foresail:layer: prod # the layer\n", at, "1.36.4"),
      'config:\n  foresail:layer: prod # the layer\n  foresail:cluster:\n    version: "1.36.4"\n',
    );
    assert.equal(withVersion('config:\n  foresail:cluster: "{}"\n', at, "1.36.4"), undefined);
    assert.equal(
      withVersion("config:\n  a: &v 1.36.3\n  foresail:cluster:\n    version: *v\n", at, "1.36.4"),
      undefined,
    );
  });

  it("is in the files of a canary first, then in the layer of all", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "foresail-set-"));
    const here = process.cwd();
    const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
    try {
      mkdirSync(path.join(folder, "layers"));
      const layer = 'config:\n  foresail:cluster:\n    version: "1.35.4"\n';
      const stack = "config:\n  foresail:layer: prod\n";
      writeFileSync(path.join(folder, "Pulumi.yaml"), "name: foresail\n");
      writeFileSync(path.join(folder, "layers/prod.yaml"), layer);
      for (const name of ["prod-eu1", "prod-us1"])
        writeFileSync(path.join(folder, `Pulumi.${name}.yaml`), stack);
      process.chdir(folder);
      const lines: string[] = [];
      const set = (...stacks: string[]) =>
        fleetSetVersion({ version: "1.36.4", stacks }, (line) => void lines.push(line));
      assert.equal(await set("prod-eu1"), 0);
      assert.deepEqual([read("layers/prod.yaml"), read("Pulumi.prod-us1.yaml")], [layer, stack]);
      assert.match(read("Pulumi.prod-eu1.yaml"), /version: "1\.36\.4"/);
      assert.equal(await set("prod-*"), 0);
      assert.equal(read("layers/prod.yaml"), layer.replace("1.35.4", "1.36.4"));
      assert.equal(await set("prod-*"), 0);
      const next = "no stack was touched; to see what it changes: foresail fleet preview";
      assert.deepEqual(lines, [
        "Pulumi.prod-eu1.yaml: 1.35.4 → 1.36.4 (prod-eu1)",
        next,
        "layers/prod.yaml: 1.35.4 → 1.36.4 (prod-us1)",
        next,
        "these stacks have 1.36.4 already",
      ]);
      await assert.rejects(
        set("dev-*"),
        /--stacks "dev-\*" matches no stack file; there are prod-eu1, prod-us1/,
      );
    } finally {
      process.chdir(here);
      rmSync(folder, { recursive: true });
    }
  });
});
