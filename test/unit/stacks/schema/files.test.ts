import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Ajv from "ajv";
import { parse } from "yaml";
import { stackFileJsonSchema } from "../../../../scripts/configuration-schema";
import { staleDocs } from "../../../../scripts/generate-configuration-docs";
import { issuesOf } from "./issues";
import { cluster, reader } from "./valid";

/** The project folder; tests run from bin/test/unit/configuration. */
const ROOT = resolve(__dirname, "../../../../..");
const readYaml = (path: string) =>
  parse(readFileSync(join(ROOT, path), "utf8")) as { config: Record<string, unknown> };
const EXAMPLE = "stacks/config/Pulumi.example-onprem.yaml";

describe("configuration: files", () => {
  it("has pages that match the schema; otherwise run: npm run docs", () => {
    assert.deepEqual(staleDocs(), []);
  });

  it("has a valid example", () => {
    assert.deepEqual(issuesOf(reader(readYaml(EXAMPLE).config["foresail:cluster"])), []);
  });

  it("gives editors the same rules as the program: the example passes, an unknown field does not", () => {
    const validate = new Ajv({ allowUnionTypes: true }).compile(stackFileJsonSchema());
    assert.equal(validate(readYaml(EXAMPLE)), true, JSON.stringify(validate.errors));
    assert.equal(validate({ config: { "foresail:cluster": cluster({ machnes: [] }) } }), false);
    assert.equal(validate({ config: {} }), false);
  });

  it("describes every field of the schema", () => {
    const bare: string[] = [];
    const visit = (schema: Record<string, unknown>, path: string) => {
      for (const [name, field] of Object.entries(
        (schema.properties ?? {}) as Record<string, Record<string, unknown>>,
      )) {
        if (!field.description && path !== "") bare.push(`${path}.${name}`);
        visit(field, `${path}.${name}`);
        visit((field.items ?? {}) as Record<string, unknown>, `${path}.${name}[]`);
      }
    };
    visit(stackFileJsonSchema(), "");
    assert.deepEqual(bare, []);
  });

  it("declares no key in Pulumi.yaml, whose default would hide that of a layer", () => {
    assert.equal(readYaml("Pulumi.yaml").config, undefined);
  });
});
