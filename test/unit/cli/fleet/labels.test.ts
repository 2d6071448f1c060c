import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stringify } from "yaml";
import { readLabels, readRegions } from "../../../../cli/fleet/files/labels";
import { loadConfiguration } from "../../../../stacks/schema";
import { cluster, reader } from "../../stacks/schema/valid";

describe("the labels of stacks", () => {
  let folder: string;
  const write = (name: string, config: unknown) =>
    writeFileSync(path.join(folder, "config", name), stringify({ config }));
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-labels-"));
    mkdirSync(path.join(folder, "config", "layers"), { recursive: true });
    writeFileSync(path.join(folder, "Pulumi.yaml"), "name: foresail\nstackConfigDir: config\n");
    write("layers/prod.yaml", { "foresail:labels": { region: "eu", stage: "late" } });
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const read = (...stacks: string[]) => readLabels({ folder, name: "foresail" }, stacks);

  it("are those of the stack file over those of its layer; a stack without a file has none", () => {
    write("Pulumi.eu1.yaml", { "foresail:layer": "prod", "foresail:labels": { stage: "canary" } });
    write("Pulumi.us1.yaml", { "foresail:labels": { region: "us" } });
    assert.deepEqual(read("eu1", "acme/foresail/us1", "new"), {
      eu1: { region: "eu", stage: "canary" },
      "acme/foresail/us1": { region: "us" },
      new: {},
    });
  });

  it("are refused with their files, path and fix", () => {
    write("Pulumi.eu1.yaml", { "foresail:layer": "prod", "foresail:labels": { stage: true } });
    assert.throws(() => read("eu1"), {
      message:
        "Pulumi.eu1.yaml over layers/prod.yaml has 1 validation issue; nothing was changed:\n" +
        '  labels.stage: is true, not a text; put it in quotes: "true"',
    });
    writeFileSync(path.join(folder, "config", "Pulumi.eu1.yaml"), "config: [");
    assert.throws(() => read("eu1"), /^Error: Pulumi\.eu1\.yaml is not YAML: /);
  });

  it("are missing with the name of the fleet's own file", () => {
    write("Pulumi.eu1.yaml", { "foresail:layer": "prod" });
    write("Pulumi.us1.yaml", {});
    const regions = (...stacks: string[]) =>
      readRegions({ folder, name: "foresail" }, { waves: [{ name: "all", stacks }] }, "eu/other.yaml");
    assert.deepEqual(regions("eu1"), { eu1: "eu" });
    assert.throws(() => regions("us1"), /^Error: other\.yaml has 1 validation issue; [^]*us1: has no label /);
  });

  it("are accepted by the program, which checks them too", () => {
    const load = (labels: object) =>
      loadConfiguration(reader(cluster(), { "foresail:labels": JSON.stringify(labels) }));
    assert.equal(load({ stage: "canary" }).system, "ssh");
    assert.throws(() => load({ "a b": "c" }), /\n {2}labels\["a b"\]: "a b" is not a key of Kubernetes; /);
  });
});
