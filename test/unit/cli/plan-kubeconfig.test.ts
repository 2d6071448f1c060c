import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse, stringify } from "yaml";
import { chooseContext, findKubeconfig } from "../../../cli/forecast/kubeconfig";

describe("foresail plan's kubeconfig", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-plan-"));
  after(() => rmSync(folder, { recursive: true }));

  const file = path.join(folder, "config");
  const entry = (name: string) => ({ name, context: { cluster: name, user: name } });
  const config = {
    contexts: [entry("one"), entry("two"), { name: "broken", context: { cluster: "gone", user: "one" } }],
    clusters: ["one", "two"].map((name) => ({
      name,
      cluster: { server: `https://${name}:6443`, "certificate-authority": "ca.crt" },
    })),
    users: ["one", "two"].map((name) => ({ name, user: { token: name } })),
  };
  const save = (content: object | string) =>
    writeFileSync(file, typeof content === "string" ? content : stringify(content));

  it("uses only the current context, or the requested one", () => {
    save({ ...config, "current-context": "two" });
    for (const [wanted, name] of [
      [undefined, "two"],
      ["one", "one"],
    ] as const) {
      const { kubeconfig, context } = chooseContext(file, wanted);
      const one = parse(kubeconfig) as typeof config;
      assert.equal(context, name);
      assert.deepEqual(one.contexts, [entry(name)]);
      assert.deepEqual(one.users, [{ name, user: { token: name } }]);
      assert.equal(one.clusters[0]?.cluster["certificate-authority"], path.join(folder, "ca.crt"));
    }
  });

  it("is the first file of KUBECONFIG that has the context", () => {
    const other = path.join(folder, "other");
    save({ ...config, "current-context": "two" });
    writeFileSync(other, stringify({ contexts: [entry("four")] }));
    const KUBECONFIG = ["/nowhere", other, file].join(path.delimiter);
    assert.equal(findKubeconfig(undefined, undefined, { KUBECONFIG }), file);
    assert.equal(findKubeconfig(undefined, "four", { KUBECONFIG }), other);
    assert.equal(findKubeconfig("given", "four", { KUBECONFIG }), "given");
    assert.throws(() => findKubeconfig(undefined, "five", { KUBECONFIG }), /has the context "five"/);
  });

  const wrong: [string, object | string, string | undefined, RegExp][] = [
    [
      "no current context",
      config,
      undefined,
      /config names no current context: choose one with --context \(it has one, two, broken\)/,
    ],
    ["an unknown context", config, "three", /config has no context "three": it has one, two, broken/],
    [
      "a broken context",
      config,
      "broken",
      /config: the context "broken" names a cluster that is not in the file/,
    ],
    ["no kubeconfig", "a: b", undefined, /config is not a kubeconfig; on a control plane/],
    ["no YAML", "{{", undefined, /config is not a kubeconfig/],
  ];
  for (const [what, content, context, words] of wrong) {
    it(`says what to do about ${what}`, () => {
      save(content);
      assert.throws(() => chooseContext(file, context), words);
    });
  }

  it("says what to do about a file that is not there", () => {
    assert.throws(
      () => chooseContext(path.join(folder, "none")),
      /can't read the kubeconfig .*none: there is no such file/,
    );
  });
});
