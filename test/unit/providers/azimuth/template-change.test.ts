import assert from "node:assert/strict";
import {
  type TemplateChange,
  templateChangeRefusal,
} from "../../../../providers/azimuth/plan/template-change";

const next = (kubernetesVersion: string, deprecated = false) => ({
  name: "next",
  kubernetesVersion,
  deprecated,
});
const current = (kubernetesVersion?: string) => ({
  name: "current",
  ...(kubernetesVersion === undefined ? {} : { kubernetesVersion }),
});

describe("a change of a cluster's template", () => {
  const cases: [string, Partial<TemplateChange> & Pick<TemplateChange, "next">, RegExp | undefined][] = [
    ["a new cluster takes any template", { next: next("1.20.0") }, undefined],
    [
      "a new cluster takes none that is deprecated",
      { next: next("1.36.3", true) },
      /next is deprecated; choose/,
    ],
    [
      "a cluster keeps a template that is deprecated now",
      { current: next("1.36.3"), next: next("1.36.3", true) },
      undefined,
    ],
    [
      "a cluster keeps a template that was edited",
      { current: next("1.36.3"), next: next("1.30.0") },
      undefined,
    ],
    [
      "another deprecated template",
      { current: current("1.35.1"), next: next("1.36.3", true) },
      /is deprecated/,
    ],
    ["the next patch", { current: current("1.36.3"), next: next("1.36.4") }, undefined],
    ["the same version", { current: current("1.36.3"), next: next("1.36.3") }, undefined],
    [
      "an earlier patch",
      { current: current("1.36.3"), next: next("1.36.2") },
      /downgrade \(1.36.3 → 1.36.2\)/,
    ],
    ["an earlier minor", { current: current("1.36.3"), next: next("1.35.9") }, /downgrade/],
    [
      "a pre-release of what there is",
      { current: current("1.36.0"), next: next("1.36.0-rc.1") },
      /downgrade/,
    ],
    ["a release after its pre-release", { current: current("1.36.0-rc.1"), next: next("1.36.0") }, undefined],
    ["a later pre-release", { current: current("1.36.0-rc.2"), next: next("1.36.0-rc.10") }, undefined],
    ["the next minor", { current: current("1.35.9"), next: next("1.36.0") }, undefined],
    ["a version without a patch, or with a v", { current: current("v1.35"), next: next("1.36") }, undefined],
    [
      "two minors",
      { current: current("1.34.9"), next: next("1.36.0") },
      /more than one minor version ahead.*upgrade to 1.35 first/,
    ],
    ["another major", { current: current("1.36.3"), next: next("2.0.0") }, /another major version/],
    [
      "the next minor, while a node is old",
      { current: current("1.35.1"), next: next("1.36.0"), kubeletVersions: ["v1.35.1", "v1.34.9"] },
      /oldest node \(1.34.9 → 1.36.0\); wait until every node has 1.35.1/,
    ],
    [
      "the next minor, when no node is too old",
      { current: current("1.35.1"), next: next("1.36.0"), kubeletVersions: ["v1.35.0", "1.36.0"] },
      undefined,
    ],
    [
      "what is not a version",
      { current: current("1.35.1"), next: next("latest") },
      /can't be compared.*\(1.35.1 → latest\)/,
    ],
    [
      "a template in place of one that is gone",
      { current: current(), next: next("1.36.0") },
      /\(no version → 1.36.0\)/,
    ],
  ];
  for (const [title, change, wanted] of cases)
    it(`${wanted ? "refuses" : "allows"}: ${title}`, () => {
      const refusal = templateChangeRefusal({ kubeletVersions: [], ...change });
      if (wanted) assert.match(refusal ?? "it is allowed", wanted);
      else assert.equal(refusal, undefined);
    });
});
