import assert from "node:assert/strict";
import { parseQuantity } from "../../../../lib/kubernetes/quantity";

describe("a quantity of Kubernetes", () => {
  const values: [string, number | undefined][] = [
    ["0", 0],
    ["2", 2],
    [".5", 0.5],
    ["1.", 1],
    ["250m", 0.25],
    ["1e3", 1000],
    ["1E3", 1000],
    ["1E", 1e18],
    ["1k", 1000],
    ["1.5Gi", 1.5 * 2 ** 30],
    ["24689764Ki", 24689764 * 1024],
    ["-1Mi", -(2 ** 20)],
    ["", undefined],
    ["1GB", undefined],
    ["1 Gi", undefined],
    ["10%", undefined],
    ["0x10", undefined],
    ["Infinity", undefined],
  ];
  for (const [text, value] of values)
    it(`${JSON.stringify(text)} is ${value ?? "none"}`, () => assert.equal(parseQuantity(text), value));
});
