import assert from "node:assert/strict";
import type { AzimuthClusterArgs } from "../../../../components/azimuth/azimuth-cluster-args";
import { azimuthArgumentIssues } from "../../../../components/azimuth/validation";
import { refuseArguments } from "../../../../lib/pulumi/arguments";
import { formatPath } from "../../../../lib/validation/validation-issue";
import { AzimuthSection } from "../../../../stacks/schema/azimuth";
import { refusesTheSame } from "../refused-arguments";
import { KUBECONFIG, MockedEngine } from "./mocked-engine";

type Fields = Record<string, unknown>;

const addons = {
  ingress: false,
  monitoring: true,
  monitoringAlertmanagerVolumeSize: 10,
  monitoringPrometheusVolumeSize: 10,
  monitoringLokiVolumeSize: 10,
};
const zenith = {
  registrarAdminUrl: "http://registrar",
  sshdHost: "z.example.com",
  sshdPort: 22,
  projectId: "1",
};
const group = { name: "workers", machineSize: "vm.large", autoscale: false, count: 2 };
const role = { name: "users", rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] };
const repository = "https://charts.example.com";

const SECTION: Fields = {
  name: "demo",
  namespace: "az-demo",
  label: "Demo",
  templateName: "kube-1-36-3",
  cloudCredentialsSecretName: "credentials",
  leaseName: "demo",
  autohealing: true,
  controlPlaneMachineSize: "vm.small",
  nodeGroups: [group],
  addons,
  identity: { defaultUserClusterRole: role },
  zenith,
  charts: { cluster: { chart: "other", repository, version: "1.2.3" } },
};

/** The arguments that a section stands for. */
function argumentsOf({
  namespace,
  identity,
  zenith: tunnel,
  charts,
  record,
  takeOver,
  timeouts,
  ...cluster
}: Fields) {
  const { name: _, ...specification } = cluster;
  const args = { kubeconfig: KUBECONFIG, namespace, cluster: specification, identity };
  return { ...args, zenith: tunnel, charts, record, takeOver, timeouts } as unknown as AzimuthClusterArgs;
}

/** Refuses a section; `cluster` has some of its fields in the arguments. */
const make = (section: Fields) => {
  const found = azimuthArgumentIssues(section.name as string, argumentsOf(section));
  const issues = found.map(({ path, message }) => ({
    path: path[0] === "cluster" ? path.slice(1) : path,
    message,
  }));
  refuseArguments("AzimuthCluster", issues);
};

const CHANGES: Fields[] = [
  { name: "Demo" },
  { name: "d".repeat(41) },
  { namespace: "az/../other" },
  { label: " Demo" },
  { label: "" },
  { takeOver: "org/shop/prod" },
  { label: "x".repeat(256) },
  { templateName: "../secrets/a" },
  { cloudCredentialsSecretName: "a b" },
  { zenithIdentityRealmName: "A" },
  { leaseName: "-" },
  { controlPlaneMachineSize: "vm\nsmall" },
  { nodeGroups: [{ ...group, name: "w" }] },
  { nodeGroups: [{ ...group, machineSize: "" }] },
  { nodeGroups: [group, group] },
  { nodeGroups: [{ ...group, count: -1 }] },
  { nodeGroups: [{ ...group, count: 1001 }] },
  { nodeGroups: [{ ...group, count: 1.5 }] },
  { nodeGroups: [{ ...group, count: undefined }] },
  { nodeGroups: [{ ...group, minCount: 1 }] },
  { nodeGroups: [{ ...group, autoscale: true, count: undefined, minCount: 3, maxCount: 2 }] },
  { nodeGroups: [{ ...group, autoscale: true, count: undefined, minCount: 0, maxCount: 2 }] },
  { addons: { ...addons, ingressControllerLoadBalancerIp: "10.0.0.1" } },
  { addons: { ...addons, ingress: true, ingressControllerLoadBalancerIp: "10.0.0" } },
  { addons: { ...addons, monitoringLokiVolumeSize: 0 } },
  {
    addons: { ...addons, dashboard: true },
    charts: { cluster: { chart: "openstack-cluster", repository, version: "0.26.1" } },
  },
  { identity: { defaultClusterRole: "" } },
  { identity: { defaultClusterRole: "admin", defaultUserClusterRole: role } },
  { identity: { defaultUserClusterRole: { ...role, name: "a\u0007" } } },
  { identity: { defaultUserClusterRole: { ...role, rules: [] } } },
  { identity: { defaultUserNamespaceRole: { ...role, namespaces: ["Shop"] } } },
  { identity: { defaultUserClusterRole: { ...role, rules: [{ apiGroups: [""], verbs: ["get"] }] } } },
  { identity: { defaultUserClusterRole: { ...role, rules: [{ nonResourceURLs: ["*"], verbs: [] }] } } },
  { zenith: { ...zenith, registrarAdminUrl: "http://me:hunter2@registrar" } },
  { zenith: { ...zenith, sshdHost: "a b" } },
  { zenith: { ...zenith, sshdPort: 0 } },
  { zenith: { ...zenith, projectId: "" } },
  { zenith: { ...zenith, projectId: undefined } },
  { charts: { cluster: { chart: "--post-renderer=sh", repository, version: "1.2.3" } } },
  { charts: { cluster: { chart: "other", version: "1.2.3" } } },
  { charts: { cluster: { chart: "other", repository: "file:///etc", version: "1.2.3" } } },
  { charts: { cluster: { chart: "./here", repository, version: "1.2.3" } } },
  { charts: { zenithOperator: { chart: "other", repository, version: "latest" } } },
  { charts: { zenithApiServer: { chart: "other", repository, version: "1.2.3", digest: "56b6" } } },
  { charts: { cluster: { chart: "./here", version: "1.2.3", digest: `sha256:${"0".repeat(64)}` } } },
  { record: false },
  { timeouts: { identitySeconds: 0 } },
  { timeouts: { deletionSeconds: 86_401, leaseSeconds: 1.5 } },
  { name: "Demo", namespace: "Demo", templateName: "Demo" },
];

describe("the arguments of AzimuthCluster", () => {
  refusesTheSame(AzimuthSection, SECTION, make, CHANGES);

  it("include a kubeconfig with one context", () => {
    const issues = (kubeconfig: string) =>
      azimuthArgumentIssues("demo", { ...argumentsOf(SECTION), kubeconfig }).map(({ path }) =>
        formatPath(path),
      );
    assert.deepEqual(issues("hunter2"), ["kubeconfig"]);
    assert.deepEqual(issues("{contexts: [{name: a}, {name: b}]}"), ["kubeconfig"]);
  });

  it("are refused with all issues before anything is registered, as are those of its parts", async function () {
    this.timeout(60_000);
    const engine = new MockedEngine();
    await engine.start();
    const { AzimuthCluster } = await import("../../../../components/azimuth/azimuth-cluster.js");
    const objects = await import("../../../../components/azimuth/tenancy-objects.js");
    const tunnels = await import("../../../../components/azimuth/zenith.js");
    const tenancy = { kubeconfig: KUBECONFIG, namespace: "../x", cluster: "demo", realmName: "demo" };
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "demo", uid: "u" };
    const made: [words: RegExp, make: () => unknown][] = [
      [
        /AzimuthCluster Demo has 2 validation issues:\n {2}name: .*\n {2}namespace: /,
        () => new AzimuthCluster("Demo", argumentsOf({ ...SECTION, namespace: "../x" })),
      ],
      [/Realm r has 1 validation issue:\n {2}namespace: /, () => new objects.Realm("r", tenancy)],
      [/OidcClient o has 1 .*:\n {2}namespace: /, () => new objects.OidcClient("o", tenancy)],
      [/Platform p has 1 .*:\n {2}namespace: /, () => new objects.Platform("p", tenancy)],
      [
        /Lease l has 2 .*:\n {2}namespace: .*\n {2}leaseName: /,
        () => new objects.Lease("l", { ...tenancy, leaseName: "L" }),
      ],
      [
        /ZenithApiServer z has 2 .*:\n {2}namespace: .*\n {2}zenith\.sshdPort: /,
        () => new tunnels.ZenithApiServer("z", { ...tenancy, owner, zenith: { ...zenith, sshdPort: 0 } }),
      ],
      [
        /ZenithOperator z has 3 .*:\n {2}namespace: .*\n {2}projectId: .*\n {2}chart\.digest: /,
        () =>
          new tunnels.ZenithOperator("z", {
            ...{ ...tenancy, zenith, projectId: "" },
            chart: { chart: "zenith-operator", digest: "x" },
          }),
      ],
    ];
    for (const [words, make] of made)
      await assert.rejects(
        engine.run(() => make()),
        words,
      );
    assert.deepEqual(await engine.run(() => undefined), []);
  });
});
