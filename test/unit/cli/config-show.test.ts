import assert from "node:assert/strict";
import { parse } from "yaml";
import { mergedValues, renderValues } from "../../../cli/commands/config-show";

const LAYER = {
  file: "layers/prod.yaml",
  values: { "foresail:cluster": { version: "1.36.3", network: { podSubnet: "10.1.0.0/16" }, lost: ["w-1"] } },
};
const STACK = {
  file: "Pulumi.eu1.yaml",
  values: { "foresail:cluster": { name: "eu1", lost: null }, "foresail:sshPrivateKey": "[secret]" },
};

describe("foresail config show", () => {
  it("prints the merged values as YAML with the file of each", () => {
    const lines = renderValues(mergedValues(STACK, LAYER));
    assert.deepEqual(
      lines.map((line) => line.replace(/ +#/, " #")),
      [
        "foresail:cluster:",
        "  version: 1.36.3 # layers/prod.yaml",
        "  network:",
        "    podSubnet: 10.1.0.0/16 # layers/prod.yaml",
        "  name: eu1 # Pulumi.eu1.yaml",
        'foresail:sshPrivateKey: "[secret]" # Pulumi.eu1.yaml',
      ],
    );
    assert.deepEqual(parse(lines.join("\n")), {
      "foresail:cluster": { version: "1.36.3", network: { podSubnet: "10.1.0.0/16" }, name: "eu1" },
      "foresail:sshPrivateKey": "[secret]",
    });
  });

  it("prints every kind of value as it is read again", () => {
    const values = {
      a: { "b c": ["x", { y: [] }], d: "1.30", e: {}, f: "two\nlines\n" },
      g: 1,
      h: { i: { j: null } },
    };
    const lines = renderValues(mergedValues({ file: "Pulumi.eu1.yaml", values }));
    assert.deepEqual(parse(lines.join("\n")), values);
  });
});
