import assert from "node:assert/strict";
import { type Fault, Faults, readFault } from "../../../../sandbox/azimuth/faults";

const OBJECT = { namespace: "az-demo", name: "kube-demo" };

describe("a fault of a fake for Azimuth", () => {
  const cases: [string, Fault | undefined][] = [
    ["never-ready", { neverReady: true }],
    ["slow=30", { slow: 30 }],
    ["failed=no such realm = none", { failed: "no such realm = none" }],
    ["failed", { failed: "as was asked for" }],
    ["deleted", { deleted: true }],
    ["changed-every=200", { changedEvery: 200 }],
    ["slow", undefined],
    ["slow=soon", undefined],
    ["changed-every=0", undefined],
    ["", undefined],
  ];
  for (const [text, fault] of cases)
    it(`is read from "${text}"`, () => {
      assert.deepEqual(readFault(text), fault);
    });

  it("is requested on the namespace for objects that do not exist yet, and on the object itself first", () => {
    const faults = new Faults();
    let changes = 0;
    faults.onChange(() => (changes += 1));
    const annotations = { "sandbox.foresail.dev/fault-OIDCClient": "never-ready" };
    const namespaces = [{ metadata: { name: "az-demo", annotations } }];
    faults.takeNamespaces(namespaces);
    faults.takeNamespaces(namespaces);
    assert.equal(changes, 1);
    assert.deepEqual(faults.of("OIDCClient", OBJECT), { neverReady: true });
    assert.deepEqual(faults.of("Platform", OBJECT), {});
    assert.deepEqual(faults.of("OIDCClient", { ...OBJECT, namespace: "other" }), {});
    const own = { "sandbox.foresail.dev/fault": "slow=1" };
    assert.deepEqual(faults.of("OIDCClient", { ...OBJECT, annotations: own }), { slow: 1 });
    faults.takeNamespaces([]);
    assert.deepEqual(faults.of("OIDCClient", OBJECT), {});
  });
});
