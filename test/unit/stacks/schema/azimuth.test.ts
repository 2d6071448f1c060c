import assert from "node:assert/strict";
import { type ConfigurationReader, loadConfiguration } from "../../../../stacks/schema";
import { issuesOf } from "./issues";

const KUBECONFIG = "clusters: []\nusers: []\ncontexts: [{name: management}]\n";

const smallest = (over: Record<string, unknown> = {}): Record<string, unknown> => ({
  name: "demo",
  namespace: "az-demo",
  templateName: "kube-1-36-3",
  cloudCredentialsSecretName: "credentials",
  controlPlaneMachineSize: "vm.small",
  ...over,
});

function reader(azimuth: unknown, others: Record<string, string | undefined> = {}): ConfigurationReader {
  const values = {
    "foresail:system": "azimuth",
    "foresail:azimuth": JSON.stringify(azimuth),
    "foresail:managementKubeconfig": KUBECONFIG,
    ...others,
  };
  return {
    project: "foresail",
    stack: "dev",
    values: Object.fromEntries(
      Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    isSecret: (key) => key === "foresail:managementKubeconfig",
  };
}

const zenith = { registrarAdminUrl: "http://registrar", sshdHost: "z.example.com", projectId: "1" };

describe("configuration: azimuth", () => {
  it("has defaults for everything that can have one", () => {
    const loaded = loadConfiguration(reader(smallest()));
    assert.ok(loaded.system === "azimuth");
    const { azimuth } = loaded;
    assert.equal(azimuth.record, true);
    assert.equal(azimuth.adopt, false);
    assert.deepEqual(azimuth.identity, {});
    assert.deepEqual(azimuth.nodeGroups, []);
    assert.deepEqual(azimuth.charts.cluster, { chart: "openstack-cluster", version: "0.27.0" });
    assert.equal(azimuth.addons.monitoringLokiVolumeSize, 10);
  });

  it("accepts a cluster without OpenID Connect, and one with Zenith", () => {
    for (const over of [{ identity: null }, { zenith }])
      assert.deepEqual(issuesOf(reader(smallest(over))), []);
  });

  it("keeps the nulls of a stack file where its layer has no such field", () => {
    const values = { nodeGroupDefaults: { failureDomain: null } };
    const stack = reader(smallest({ identity: null, values }), { "foresail:layer": "site" });
    const loaded = loadConfiguration({
      ...stack,
      readLayer: (name) => ({ file: `layers/${name}.yaml`, text: "config: {foresail:labels: {site: x}}" }),
    });
    assert.ok(loaded.system === "azimuth");
    assert.equal(loaded.azimuth.identity, null);
    assert.deepEqual(loaded.azimuth.values, values);
  });

  it("accepts a cluster without a lease and without a record", () =>
    assert.deepEqual(issuesOf(reader(smallest({ record: false }))), []));

  it("gives users all rights by their own role only on request", () => {
    const roleOf = (identity: object) => {
      const loaded = loadConfiguration(reader(smallest({ identity })));
      assert.ok(loaded.system === "azimuth");
      return loaded.azimuth.identity?.defaultUserClusterRole;
    };
    assert.equal(roleOf({}), undefined);
    assert.deepEqual(roleOf({ defaultUserClusterRole: {} }), {
      name: "oidc:default-users-cluster",
      rules: [
        { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
        { nonResourceURLs: ["*"], verbs: ["*"] },
      ],
    });
  });

  const cases: [string, ConfigurationReader, string[]][] = [
    [
      "names what is missing",
      reader({ name: "demo" }),
      [
        "azimuth.templateName: is missing; write a text",
        "azimuth.controlPlaneMachineSize: is missing; write a text",
        "azimuth.namespace: is missing; write a text",
        "azimuth.cloudCredentialsSecretName: is missing; write a text",
      ],
    ],
    [
      "names the whole section, and the kubeconfig",
      reader(undefined, { "foresail:azimuth": undefined, "foresail:managementKubeconfig": undefined }),
      [
        "azimuth: is missing; examples/azimuth/ shows a complete one",
        "managementKubeconfig: is missing; set it with: pulumi config set --secret foresail:managementKubeconfig < FILE",
      ],
    ],
    [
      "says that a kubeconfig is none, without a word of it",
      reader(smallest(), { "foresail:managementKubeconfig": "hunter2" }),
      [
        "managementKubeconfig: is not a kubeconfig; set it with: pulumi config set --secret foresail:managementKubeconfig < FILE",
      ],
    ],
    [
      "refuses keys of other systems",
      reader(smallest(), { "foresail:cluster": "{}" }),
      [
        'cluster: belongs to the systems "ssh", "openstack", "tumblebug"; remove it, or write one of them as foresail:system',
      ],
    ],
    [
      "guesses what was meant",
      reader(smallest({ leasName: "demo" })),
      ['azimuth.leasName: is not known; did you mean "leaseName"?'],
    ],
    [
      "holds the numbers of node groups together",
      reader(
        smallest({
          nodeGroups: [
            { name: "w", machineSize: "s", count: 1 },
            { name: "two", machineSize: "s" },
            { name: "range", machineSize: "s", autoscale: true, count: 2, minCount: 3, maxCount: 2 },
            { name: "both", machineSize: "s", count: 1, maxCount: 2 },
          ],
        }),
      ),
      [
        'azimuth.nodeGroups[0].name: "w" is not the name of a node group; write 3 to 40 lower-case letters, digits and dashes, with a letter first and a letter or digit last',
        "azimuth.nodeGroups[1].count: is missing; write how many machines",
        "azimuth.nodeGroups[2].count: is for a group that does not scale by itself; remove it",
        "azimuth.nodeGroups[2].maxCount: is 2, less than minCount; write 3 or more",
        "azimuth.nodeGroups[3].maxCount: is for a group that scales by itself; remove it, or write autoscale: true",
      ],
    ],
    [
      "refuses Headlamp with a release of Azimuth's chart that does not have it",
      reader(smallest({ addons: { dashboard: true }, charts: { cluster: { version: "0.26.1" } } })),
      [
        "azimuth.addons.dashboard: is Headlamp, which version 0.26.1 of the chart does not have; write charts.cluster.version 0.27.0 or later, or remove dashboard",
      ],
    ],
    [
      "refuses a cluster with a lease and no record, which could not be deleted when the lease ends",
      reader(smallest({ record: false, leaseName: "demo" })),
      [
        "azimuth.record: is false, but a cluster with a lease needs its record: azimuth-schedule-operator may delete only Clusters when the lease ends; write true, or remove leaseName",
      ],
    ],
    [
      "refuses two default roles, and rules that the API server would refuse",
      reader(
        smallest({
          identity: {
            defaultClusterRole: "admin",
            defaultUserClusterRole: { rules: [{ apiGroups: [""], verbs: ["get"] }] },
          },
        }),
      ),
      [
        "azimuth.identity.defaultUserClusterRole.rules[0].resources: is missing; write it, or nonResourceURLs",
        "azimuth.identity.defaultClusterRole: can't be used with defaultUserClusterRole, which creates the role; remove one of them",
      ],
    ],
    [
      "refuses a rule about both resources and URLs",
      reader(
        smallest({
          identity: {
            defaultUserClusterRole: { rules: [{ resources: ["*"], nonResourceURLs: ["*"], verbs: ["*"] }] },
          },
        }),
      ),
      [
        "azimuth.identity.defaultUserClusterRole.rules[0].resources: can't be used with nonResourceURLs; write two rules",
      ],
    ],
    [
      "refuses a name that two groups have",
      reader(
        smallest({
          nodeGroups: [
            { name: "both", machineSize: "s", count: 1 },
            { name: "both", machineSize: "s", count: 1 },
          ],
        }),
      ),
      ['azimuth.nodeGroups[1].name: "both" is listed twice; remove one'],
    ],
    [
      "refuses an address for what is not installed, and a chart from nowhere",
      reader(
        smallest({
          addons: { ingressControllerLoadBalancerIp: "192.0.2.9" },
          charts: { cluster: { chart: "our-cluster" } },
        }),
      ),
      [
        "azimuth.addons.ingressControllerLoadBalancerIp: is for the ingress controller; remove it, or write ingress: true",
        'azimuth.charts.cluster.repository: is missing; write the URL of the repository that has "our-cluster"',
      ],
    ],
  ];
  for (const [title, configured, wanted] of cases)
    it(title, () => assert.deepEqual(issuesOf(configured), wanted));
});
