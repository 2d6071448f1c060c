import assert from "node:assert/strict";
import fc from "fast-check";
import { hasNull, mergeValues, nullPaths } from "../../../../providers/azimuth/plan/values";
import {
  clusterValues,
  specificationValues,
  templateFields,
  unreservedSizes,
  withLeasedFlavors,
  roleBindingValues,
} from "../../../../providers/azimuth/plan/cluster-values";
import type { AzimuthSpec } from "../../../../providers/azimuth/plan/objects";
import type { Json, JsonObject } from "../../../../lib/merge";
import { missingFields } from "../../../../providers/kubernetes/plan/status";

const cluster: AzimuthSpec = {
  label: "demo",
  templateName: "kube",
  cloudCredentialsSecretName: "credentials",
  autohealing: true,
  controlPlaneMachineSize: "vm.small",
  nodeGroups: [{ name: "workers", machineSize: "vm.large", autoscale: false, count: 2 }],
  addons: {
    ingress: false,
    monitoring: false,
    monitoringAlertmanagerVolumeSize: 10,
    monitoringPrometheusVolumeSize: 20,
    monitoringLokiVolumeSize: 30,
  },
};

const json = (): fc.Arbitrary<JsonObject> =>
  fc.dictionary(
    fc.constantFrom("a", "b", "c", "__proto__"),
    fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<Json>(1, "x", true, null),
        fc.array(fc.constantFrom<Json>(1, 2, null), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("a", "b"), tie("value"), { noNullPrototype: true }),
      ),
    })).value,
    { noNullPrototype: true },
  );

describe("merging of Helm values", () => {
  const cases: [string, JsonObject[], JsonObject][] = [
    ["maps merge key by key", [{ a: { b: 1, c: 1 } }, { a: { c: 2, d: 3 } }], { a: { b: 1, c: 2, d: 3 } }],
    ["lists are put one after the other, with repeats", [{ a: [1, 2] }, { a: [2] }], { a: [1, 2, 2] }],
    [
      "null overrides nothing",
      [
        { a: 1, b: { c: [1] } },
        { a: null, b: null },
      ],
      { a: 1, b: { c: [1] } },
    ],
    [
      "null stays for a key that no layer before has",
      [{ b: 1 }, { a: null, c: { d: null } }],
      { b: 1, a: null, c: { d: null } },
    ],
    ["null is replaced by a later value", [{ a: null }, { a: { b: 1 } }, { a: null }], { a: { b: 1 } }],
    ["another kind of value replaces", [{ a: { b: 1 } }, { a: [1] }, { a: "x" }], { a: "x" }],
    ["an empty map changes nothing", [{ a: { b: 1 } }, { a: {} }], { a: { b: 1 } }],
    [
      "false and 0 override",
      [
        { a: true, b: 1 },
        { a: false, b: 0 },
      ],
      { a: false, b: 0 },
    ],
  ];
  for (const [title, layers, wanted] of cases)
    it(title, () => assert.deepEqual(mergeValues(...layers), wanted));

  it("is associative where each key has one kind of value", () => {
    const leaf = fc.record(
      {
        number: fc.constantFrom<Json>(0, 1, 2, null),
        list: fc.oneof(fc.array(fc.constantFrom<Json>(1, 2), { maxLength: 3 }), fc.constant<Json>(null)),
      },
      { requiredKeys: [], noNullPrototype: true },
    );
    const layer = fc.record(
      { map: leaf, number: fc.constantFrom<Json>(0, 1, null) },
      { requiredKeys: [], noNullPrototype: true },
    ) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(layer, layer, layer, (one, two, three) => {
        assert.deepEqual(
          mergeValues(mergeValues(one, two), three),
          mergeValues(one, mergeValues(two, three)),
        );
      }),
    );
  });

  it("has an empty map as its neutral element, and changes no argument", () => {
    fc.assert(
      fc.property(json(), json(), (one, other) => {
        const before = JSON.stringify([one, other]);
        mergeValues(one, other);
        assert.equal(JSON.stringify([one, other]), before);
        const alone = mergeValues(one);
        assert.deepEqual(mergeValues(one, {}), alone);
        assert.deepEqual(mergeValues({}, one), alone);
      }),
    );
  });

  it("never replaces a value by null, and pollutes no prototype", () => {
    fc.assert(
      fc.property(json(), json(), (one, other) => {
        const merged = mergeValues(one, other);
        const hasValue = (layer: JsonObject, key: string) => Object.hasOwn(layer, key) && layer[key] !== null;
        for (const key of Object.keys(merged))
          assert.equal(hasValue(merged, key), hasValue(one, key) || hasValue(other, key), key);
        assert.equal(({} as Record<string, unknown>)["a"], undefined);
      }),
    );
  });

  it("names the keys of nulls that remove a default", () =>
    assert.deepEqual(nullPaths({ a: null, b: { "c.d": null, e: 1 }, f: [{ g: null }, null] }), [
      ["a"],
      ["b", "c.d"],
    ]));

  it("finds a null at any depth", () => {
    for (const value of [null, { a: null }, { a: [{ b: [null] }] }]) assert.equal(hasNull(value), true);
    for (const value of [undefined, 0, "", "null", {}, { a: [{ b: [] }] }])
      assert.equal(hasNull(value), false);
  });
});

describe("Helm values of a cluster", () => {
  it("come from the specification", () => {
    assert.deepEqual(specificationValues(cluster, { issuerUrl: "https://id", clientId: "kube-demo" }), {
      cloudCredentialsSecretName: "credentials",
      oidc: { issuerUrl: "https://id", clientId: "kube-demo", usernameClaim: "preferred_username" },
      controlPlane: { machineFlavor: "vm.small", healthCheck: { enabled: true } },
      nodeGroupDefaults: { healthCheck: { enabled: true } },
      nodeGroups: [{ name: "workers", machineFlavor: "vm.large", autoscale: false, machineCount: 2 }],
      addons: { ingress: { enabled: false }, monitoring: { enabled: false } },
    });
  });

  it("have no oidc section without an issuer", () =>
    assert.equal("oidc" in clusterValues(cluster, { template: {} }), false));

  it("name the volumes and the address of enabled addons", () => {
    const addons = { ...cluster.addons, ingress: true, monitoring: true };
    const values = specificationValues({
      ...cluster,
      addons: { ...addons, ingressControllerLoadBalancerIp: "10.0.0.9" },
    });
    const text = JSON.stringify(values.addons);
    for (const part of [
      '"nginx":{"release":{"values":{"controller":{"service":{"loadBalancerIP":"10.0.0.9"}}}}}',
      '"traefik":{"release":{"values":{"service":{"spec":{"loadBalancerIP":"10.0.0.9"}}}}}',
      '"alertmanagerSpec":{"storage":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":"10Gi"}}}}}}',
      '"storageSpec":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":"20Gi"}}}}}',
      '"loki":{"persistence":{"size":"30Gi"}}',
    ])
      assert.ok(text.includes(part), `${part}\nis not in\n${text}`);
  });

  it("give a range to an autoscaled group", () => {
    const nodeGroups = [{ name: "w", machineSize: "s", autoscale: true, minCount: 1, maxCount: 5 }];
    assert.deepEqual(clusterValues({ ...cluster, nodeGroups }, { template: {} }).nodeGroups, [
      { name: "w", machineFlavor: "s", autoscale: true, machineCountMin: 1, machineCountMax: 5 },
    ]);
  });

  it("are layered: defaults, template, specification, overrides by flavor, Lease, Zenith", () => {
    const values = clusterValues(cluster, {
      defaults: { a: "default", b: "default", controlPlane: { machineCount: 1 } },
      template: { b: "template", nodeGroups: [{ name: "gpu", machineFlavor: "gpu.a100" }] },
      nodeGroupOverrides: { "gpu.*": { nodeLabels: { gpu: "yes" } }, "vm.?mall": { no: "match" } },
      sizes: { "vm.small": "r1", "gpu.a100": "r2" },
      zenith: { controlPlane: { kubeadmConfigSpec: { files: [] } }, a: "zenith" },
    });
    assert.equal(values.a, "zenith");
    assert.equal(values.b, "template");
    assert.deepEqual(values.controlPlane, {
      machineCount: 1,
      machineFlavor: "r1",
      healthCheck: { enabled: true },
      kubeadmConfigSpec: { files: [] },
    });
    // the pattern is compared with the flavor that was requested
    assert.deepEqual(values.nodeGroups, [
      { name: "gpu", machineFlavor: "r2", nodeLabels: { gpu: "yes" } },
      { name: "workers", machineFlavor: "vm.large", autoscale: false, machineCount: 2 },
    ]);
  });

  it("accept a flavor that the Lease does not have, and report it as unreserved", () => {
    const values = specificationValues(cluster);
    assert.deepEqual(withLeasedFlavors(values, {}), values);
    assert.deepEqual(withLeasedFlavors(values, { "vm.small": "r1" }).nodeGroups, values.nodeGroups);
    assert.deepEqual(unreservedSizes(values, { "vm.small": "r1" }), [
      { where: "nodeGroups[workers]", size: "vm.large" },
    ]);
  });

  it("leave entries of nodeGroups that are not maps to the chart", () => {
    const values = clusterValues(cluster, {
      template: { nodeGroups: [null, "x"] },
      nodeGroupOverrides: { "*": { a: 1 } },
      sizes: { "vm.large": "r" },
    });
    assert.deepEqual(values.nodeGroups, [
      null,
      "x",
      { name: "workers", machineFlavor: "r", autoscale: false, machineCount: 2, a: 1 },
    ]);
  });

  it("are refused when a node group of the template has no flavor for the Lease", () => {
    const values = { nodeGroups: [{ name: "gpu" }, { name: "cpu", machineFlavor: "c" }] };
    const template = { spec: { values: { kubernetesVersion: "1.36.3", machineImageId: "i", ...values } } };
    assert.deepEqual(missingFields(template, templateFields({})), []);
    assert.deepEqual(missingFields(template, templateFields({ leaseName: "demo" })), [
      "spec.values.nodeGroups[0].machineFlavor, which a cluster with a lease needs",
    ]);
  });

  it("are refused without version and image, and a template needs no node groups of its own", () => {
    assert.deepEqual(missingFields({ spec: { values: {} } }, templateFields({ leaseName: "demo" })), [
      "spec.values.kubernetesVersion",
      "spec.values.machineImageId",
    ]);
  });

  it("bind the groups of Realm and Platform to a role", () => {
    const bound = (platformUsersGroup?: string) =>
      JSON.stringify(
        roleBindingValues({
          role: { name: "admin" },
          rootGroup: "/kube-demo",
          ...(platformUsersGroup ? { platformUsersGroup } : {}),
        }),
      );
    assert.match(bound("/platform-users"), /oidc:\/platform-users.*oidc:\/kube-demo/);
    assert.doesNotMatch(bound(), /platform-users/);
  });

  it("bind them to a role in some namespaces, beside or instead of one in all", () => {
    const namespaceRole = {
      name: "oidc:users",
      namespaces: ["shop", "blog"],
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    };
    const manifests = (role?: { name: string }) => {
      const { addons } = roleBindingValues({ role, namespaceRole, rootGroup: "/kube-demo" });
      return (addons as { custom: { "oidc-default-rbac": { spec: { manifests: Record<string, string> } } } })
        .custom["oidc-default-rbac"].spec.manifests;
    };
    const names = ["oidc-default-namespace-role.yaml", "oidc-default-namespace-role-bindings.yaml"];
    assert.deepEqual(Object.keys(manifests()), names);
    assert.deepEqual(Object.keys(manifests({ name: "view" })), ["default-users.yaml", ...names]);
    const bindings = (manifests()[names[1] ?? ""] ?? "").split("---\n");
    assert.equal(bindings.length, 2);
    assert.match(bindings[1] ?? "", /kind: RoleBinding[\s\S]*namespace: blog[\s\S]*oidc:\/kube-demo/);
  });
});
