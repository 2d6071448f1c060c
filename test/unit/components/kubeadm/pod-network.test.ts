import assert from "node:assert/strict";
import { chartOf, pluginName } from "../../../../components/kubeadm/pod-network";
import type { JsonObject } from "../../../../lib/merge";

const CIDR = "10.244.0.0/16";

describe("the values of a preset's chart", () => {
  const calico = (values?: JsonObject) => chartOf({ calico: { values } }, CIDR)?.values;
  const cilium = (values?: JsonObject) => chartOf({ cilium: { values } }, CIDR)?.values;

  it("are foresail's own without others", () => {
    assert.deepEqual(calico(), { installation: { calicoNetwork: { ipPools: [{ cidr: CIDR }] } } });
  });

  it("keep foresail's own beside those of the configuration, at every depth", () => {
    assert.deepEqual(calico({ installation: { registry: "r", calicoNetwork: { bgp: "Disabled" } }, x: 1 }), {
      installation: { registry: "r", calicoNetwork: { ipPools: [{ cidr: CIDR }], bgp: "Disabled" } },
      x: 1,
    });
    assert.deepEqual(cilium({ ipam: { operator: {} } }), { ipam: { mode: "kubernetes", operator: {} } });
  });

  it("take lists, texts and null from the configuration", () => {
    const ipPools = [{ cidr: "10.9.0.0/16" }];
    assert.deepEqual(calico({ installation: { calicoNetwork: { ipPools } } }), {
      installation: { calicoNetwork: { ipPools } },
    });
    assert.deepEqual(cilium({ ipam: { mode: "cluster-pool" } }), { ipam: { mode: "cluster-pool" } });
    assert.deepEqual(calico({ installation: null }), { installation: null });
  });
});

describe("the name of a network plugin", () => {
  const chart = (name: string) => pluginName({ chart: { chart: name, namespace: "kube-system" } });

  it("is that of the plugin, and of a chart without its place and version", () => {
    assert.equal(pluginName({ bridge: {} }), "bridge");
    assert.equal(pluginName({ cilium: { version: "1.19.5" } }), "cilium");
    assert.equal(pluginName({ manifest: { path: "network.yaml" } }), "manifest");
    assert.deepEqual(
      [
        "cilium",
        "oci://r.example.com/charts/cilium",
        "./charts/cilium-1.19.5.tgz",
        "charts/cilium-v1.20.0-rc.1",
        "charts/cilium/",
      ].map(chart),
      Array(5).fill("cilium"),
    );
    assert.equal(chart("oci://r.example.com:5000/tigera-operator"), "calico");
    assert.equal(chart("kube-ovn"), "kube-ovn");
  });
});
