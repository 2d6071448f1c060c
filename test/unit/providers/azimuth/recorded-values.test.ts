import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseAllDocuments } from "yaml";
import type { AzimuthSpec } from "../../../../providers/azimuth/plan/objects";
import { clusterValues, roleBindingValues } from "../../../../providers/azimuth/plan/cluster-values";
import { zenithValues } from "../../../../providers/azimuth/plan/zenith-values";
import type { JsonObject } from "../../../../lib/merge";

/**
 * What functions of azimuth-capi-operator (1c7d83e) made from 319 inputs: each line has the input with the values, or
 * with the error in which the operator ended.
 */
const RECORDED = "helm-values.jsonl";
/** What azimuth-capi-operator made with its change of `addons.dashboard` to Headlamp (branch feat/headlamp, 6a8443a). */
const HEADLAMP = "headlamp.jsonl";

interface Recorded {
  case: string;
  input: {
    spec: Partial<AzimuthSpec> & Pick<AzimuthSpec, "nodeGroups">;
    template: JsonObject;
    defaults?: JsonObject;
    overrides?: Record<string, JsonObject>;
    sizes?: Record<string, string>;
    oidc: boolean;
    /** null: the operator has no default role; absent: the recorder's "cluster-admin" */
    role?: null;
    realm_group?: null;
    zenith?: boolean;
  };
  values?: JsonObject;
  error?: string;
}

/** A difference that is accepted: why, where, and the recorded values with it. */
interface Difference {
  why: string;
  applies: (values: JsonObject) => boolean;
  apply: (values: JsonObject) => JsonObject;
}

const DIFFERENCES: readonly Difference[] = [
  {
    why: "no node groups are [] and not null: either way Helm drops the chart's own, and stacks made so preview empty",
    applies: (values) => values.nodeGroups === null,
    apply: (values) => ({ ...values, nodeGroups: [] }),
  },
];

/** The recording sorted the patterns of overrides; where two set one field, this is their order as it was. */
const PATTERN_ORDER: Readonly<Record<string, string[]>> = { "nulls-f099": ["gpu.?", "*", "vm.*"] };

const ADDONS = {
  ingress: false,
  monitoring: false,
  monitoringAlertmanagerVolumeSize: 10,
  monitoringPrometheusVolumeSize: 10,
  monitoringLokiVolumeSize: 10,
};

/** Our values for a recorded input; what the operator's models fill in is filled in here. */
function ourValues({ case: name, input, values }: Recorded): JsonObject {
  const { spec, template, defaults, overrides, sizes, oidc, role, realm_group: group, zenith } = input;
  const cluster = {
    autohealing: true,
    ...spec,
    nodeGroups: spec.nodeGroups.map((each) => ({ ...each, autoscale: each.autoscale ?? false })),
    addons: { ...ADDONS, ...spec.addons },
  } as AzimuthSpec;
  const bindings = roleBindingValues({
    role: { name: "cluster-admin", rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] },
    rootGroup: "/kube-demo",
    ...(group === null ? {} : { platformUsersGroup: "/platform-users" }),
  });
  return clusterValues(cluster, {
    template,
    ...(defaults ? { defaults } : {}),
    ...(overrides ? { nodeGroupOverrides: inOrder(overrides, PATTERN_ORDER[name]) } : {}),
    ...(sizes ? { sizes } : {}),
    ...(oidc ? { oidc: { issuerUrl: "https://idp/realms/ns", clientId: "kube-demo" } } : {}),
    ...(oidc && role !== null ? { roleBindings: bindings } : {}),
    ...(zenith && values ? { zenith: zenithLayer(values, template) } : {}),
  });
}

function inOrder<T>(map: Record<string, T>, keys = Object.keys(map)): Record<string, T> {
  assert.deepEqual([...keys].sort(), Object.keys(map).sort());
  return Object.fromEntries(keys.map((key) => [key, map[key] as T]));
}

/** What Zenith adds, from the recorded values: here only where it goes is compared. */
function zenithLayer(values: JsonObject, template: JsonObject): JsonObject {
  const { kubeadmConfigSpec } = values.controlPlane as {
    kubeadmConfigSpec: JsonObject & { files: JsonObject[] };
  };
  const ofTemplate = (
    template.controlPlane as typeof values.controlPlane & { kubeadmConfigSpec: { files: object[] } }
  ).kubeadmConfigSpec.files.length;
  const { custom } = values.addons as { custom: JsonObject };
  const name = "kube-prometheus-stack-client";
  return {
    controlPlaneEndpoint: values.controlPlaneEndpoint,
    apiServer: values.apiServer,
    controlPlane: {
      kubeadmConfigSpec: { useExperimentalRetryJoin: true, files: kubeadmConfigSpec.files.slice(ofTemplate) },
    },
    addons: { custom: { [name]: custom[name] } },
  };
}

/** Texts of manifests as their objects: the order of keys and the space between lines don't matter. */
function comparable(values: JsonObject): unknown {
  return JSON.parse(JSON.stringify(values), (key, value: unknown) =>
    /\.yaml$/.test(key) && typeof value === "string"
      ? parseAllDocuments(value).map((document) => document.toJS() as unknown)
      : value,
  ) as unknown;
}

function linesOf<T>(file: string): T[] {
  const path = resolve(__dirname, "../../../../../test/fixtures/azimuth", file);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as T);
}

describe("Helm values that azimuth-capi-operator made", () => {
  const recorded = linesOf<Recorded>(RECORDED);

  it("are ours, for every recorded input", () => {
    assert.equal(recorded.length, 319);
    const used = new Set<Difference>();
    for (const each of recorded) {
      if (each.values === undefined) continue;
      const ours = ourValues(each);
      let wanted = each.values;
      for (const difference of DIFFERENCES.filter(({ applies }) => applies(wanted))) {
        used.add(difference);
        wanted = difference.apply(wanted);
      }
      assert.deepEqual(comparable(ours), comparable(wanted), each.case);
    }
    assert.equal(used.size, DIFFERENCES.length, "a difference is accepted that there is not");
  });

  it("are computed for inputs on which the operator fails with an error of its own", () => {
    const failed = recorded.filter(({ error }) => error !== undefined);
    assert.deepEqual(
      failed.map(({ case: name }) => name),
      [
        // a cluster without node groups: null is not iterable
        "hand-04-lease-no-groups",
        "hand-11-overrides-no-groups",
        // the preview refuses this template, by templateFields
        "hand-17-lease-template-group-without-flavor",
        // a template whose machineFlavor is a map: the chart refuses it
        "plain-f056",
        "plain-f110",
        "nulls-f109",
        "nulls-f131",
      ],
    );
    for (const each of failed) assert.ok(ourValues(each).kubernetesVersion, each.case);
  });
});

describe("Headlamp, as azimuth-capi-operator selects it by addons.dashboard", () => {
  const recorded = linesOf<Recorded & { zenith?: JsonObject; addons?: { monitoring?: boolean } }>(HEADLAMP);

  it("has its values, and keeps what the template says of it", () => {
    const cases = recorded.filter(({ values }) => values !== undefined);
    assert.equal(cases.length, 5);
    for (const each of cases) assert.deepEqual(comparable(ourValues(each)), each.values, each.case);
  });

  it("is reached through Zenith by the same Reservation and Client", () => {
    const cases = recorded.filter(({ zenith }) => zenith !== undefined);
    assert.equal(cases.length, 2);
    const tunnel = { manifest: "", files: {}, keyed: [] };
    for (const { case: name, zenith, addons } of cases) {
      const { monitoring = false } = addons ?? {};
      const ours = zenithValues({ fqdn: "f", secret: "s" }, tunnel, { monitoring, dashboard: true });
      assert.deepEqual(clientObjects(ours), clientObjects(zenith ?? {}), name);
    }
  });
});

/** The objects that expose Headlamp, by kind, without the label of the program that made them; and every addon's name. */
function clientObjects({ addons }: JsonObject): unknown {
  const { custom } = addons as {
    custom: Record<string, { spec: { namespace: string; manifests: Record<string, string> } }>;
  };
  const { manifests = {}, namespace } = custom["headlamp-client"]?.spec ?? {};
  const documents = Object.values(manifests).flatMap((text) => parseAllDocuments(text));
  const objects = documents
    .map((document) => document.toJS() as { kind: string; metadata: { labels?: object } })
    .map(({ metadata: { labels: _, ...metadata }, ...object }) => ({ ...object, metadata }))
    .sort((one, other) => (one.kind < other.kind ? -1 : 1));
  return { names: Object.keys(custom).sort(), namespace, objects };
}
