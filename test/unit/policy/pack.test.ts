import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import * as sdk from "@pulumi/policy";
import { knownValues } from "../../../policy/known-values";
import type { PolicyResource } from "../../../policy/plan/rule";
import { packRules } from "../../../policy/plan/rules";
import { parseUrn } from "../../../lib/pulumi/state";
import { UNKNOWN } from "../../../lib/unknown";
import { filesBelow, PROJECT, read } from "../docs/project";

const STATES = path.join(PROJECT, "test/engine/fixtures/states");

/** How the SDK gives values to a pack; it ships no types of these. */
const { UnknownValueError, unknownCheckingProxy } = sdk as unknown as {
  UnknownValueError: ErrorConstructor;
  unknownCheckingProxy: <Values extends object>(values: Values) => Values;
};

interface Recorded {
  urn: string;
  type: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
}

/** What the rules find in a stack that an earlier foresail made, as `rule: resource`. */
function findingsIn(file: string): string[] {
  const text = gunzipSync(readFileSync(path.join(STATES, file))).toString();
  const { state } = JSON.parse(text) as { state: { deployment: { resources: Recorded[] } } };
  const { resources, stack } = packRules("2026-01-01");
  const seen = (key: "inputs" | "outputs") =>
    state.deployment.resources.map((resource): PolicyResource => ({
      ...resource,
      name: parseUrn(resource.urn).name,
      values: resource[key] ?? {},
      isProtected: false,
    }));
  const parametersOf = ({ parameters }: { parameters: object }) =>
    Object.fromEntries(
      Object.entries(parameters as Record<string, { default: unknown }>).map(([name, schema]) => [
        name,
        schema.default,
      ]),
    ) as never;
  return [
    ...resources.flatMap((rule) =>
      seen("inputs").flatMap((resource) =>
        rule.check(resource, parametersOf(rule)).map(() => `${rule.name}: ${resource.name}`),
      ),
    ),
    ...stack.flatMap((rule) =>
      rule.checkStack(seen("outputs"), parametersOf(rule)).map(({ problem }) => `${rule.name}: ${problem}`),
    ),
  ];
}

describe("the policy pack", () => {
  const all = Object.values(packRules("2026-11-23")).flat();

  // what the stacks register, so that a rule that reads another name finds nothing here
  const recorded: Record<string, string[]> = {
    "ssh-0.1.0.json.gz": ["protected-control-planes: test-init", "pinned-host-keys: test-w-2-host-key"],
    "openstack-0.1.0.json.gz": ["protected-control-planes: test-init"],
    "tumblebug-0.1.0.json.gz": ["odd-control-planes: sandbox-init", "protected-control-planes: sandbox-init"],
    "azimuth-0.1.0.json.gz": ["odd-control-planes: demo-chart"],
    "machine-pool-0.1.0.json.gz": ["supported-versions: pool-a-ready"],
  };
  for (const [file, expected] of Object.entries(recorded))
    it(`finds in ${file} what it violates, and nothing else`, () =>
      assert.deepEqual(findingsIn(file), expected));

  it("turns unknown values into placeholders, at any depth", () => {
    const values = { a: 1, b: { c: UNKNOWN, d: ["x", UNKNOWN, null] } };
    const given = unknownCheckingProxy(values);
    assert.throws(() => given.b.c, UnknownValueError);
    assert.deepEqual(knownValues(given), values);
  });

  it("has the version of foresail", () => {
    const versionOf = (file: string) => (JSON.parse(read(file)) as { version: string }).version;
    assert.equal(versionOf("policy/package.json"), versionOf("package.json"));
  });

  it("has a page that names every rule and every parameter with its default", () => {
    const page = read("docs/policies.md");
    for (const { name, parameters } of all) {
      assert.ok(page.includes(`| \`${name}\``), name);
      for (const parameter of Object.keys(parameters))
        assert.ok(page.includes(`\`${parameter}\``), parameter);
    }
  });

  for (const file of filesBelow("policy/environments", ".json"))
    it(`${file} names rules and parameters that exist`, () => {
      const settings = JSON.parse(read(file)) as Record<string, string | object>;
      for (const [name, value] of Object.entries(settings)) {
        const rule = all.find((each) => each.name === name);
        assert.ok(rule, name);
        const known = ["enforcementLevel", ...Object.keys(rule.parameters)];
        if (typeof value !== "string")
          for (const field of Object.keys(value)) assert.ok(known.includes(field), field);
      }
    });
});
