import assert from "node:assert/strict";
import { rootCertificates } from "node:tls";
import Ajv from "ajv";
import * as pulumi from "@pulumi/pulumi";
import { stackFileJsonSchema } from "../../../../scripts/configuration-schema";
import {
  CONFIGURATION_KEYS,
  type ConfigurationKey,
  loadConfiguration,
  type System,
} from "../../../../stacks/schema";
import { cluster, HOST_KEY, OPENSTACK, TUMBLEBUG } from "./valid";

type Fields = Record<string, unknown>;

const KUBECONFIG = JSON.stringify({ contexts: [{ name: "one" }] });
const AZIMUTH = {
  ...{ name: "demo", templateName: "kube-1-30", controlPlaneMachineSize: "vm.small", namespace: "az-demo" },
  cloudCredentialsSecretName: "demo-cloud",
};
const POOL = {
  ...{ name: "pool", cluster: "demo" },
  bootstrap: { dataSecretName: "join" },
  infrastructure: {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
    kind: "AWSMachinePool",
    name: "a",
  },
};

/** A valid stack file of each section, with some fields of the section replaced. */
function file(key: string, fields: Fields): Record<string, unknown> {
  const base = { name: "test", version: "1.36.3" };
  switch (key) {
    case "cluster":
      return { "foresail:cluster": cluster(fields) };
    case "openstack":
      return {
        "foresail:system": "openstack",
        "foresail:cluster": base,
        "foresail:openstack": { ...OPENSTACK, keypair: { publicKey: HOST_KEY }, ...fields },
      };
    case "tumblebug":
      return {
        "foresail:system": "tumblebug",
        "foresail:cluster": base,
        "foresail:tumblebug": { ...TUMBLEBUG, ...fields },
      };
    case "azimuth":
      return { "foresail:system": "azimuth", "foresail:azimuth": { ...AZIMUTH, ...fields } };
    default:
      return { "foresail:system": "machine-pool", "foresail:machinePool": { ...POOL, ...fields } };
  }
}

async function load(written: Record<string, unknown>) {
  const warnings: string[] = [];
  const system = (written["foresail:system"] ?? "ssh") as System;
  const values = Object.entries(written).map(([key, value]) => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const loaded = loadConfiguration(
    {
      project: "foresail",
      stack: "dev",
      values: {
        ...(Object.fromEntries(values) as Record<string, string>),
        ...(["azimuth", "machine-pool"].includes(system)
          ? { "foresail:managementKubeconfig": KUBECONFIG }
          : {}),
      },
      isSecret: (key) => key.endsWith("Kubeconfig"),
    },
    (message) => warnings.push(message),
  );
  return { value: await plain(loaded), warnings };
}

const plain = (value: unknown) => new Promise((resolve) => pulumi.output(value as object).apply(resolve));

const [controlPlanes, workers] = OPENSTACK.pools;
const [planes, machines] = TUMBLEBUG.groups;
const certificate = rootCertificates[0]!;

const withWorkers = (fields: Fields) => ({ pools: [controlPlanes, { ...workers, ...fields }] });
const withGroup = (fields: Fields) => ({ groups: [planes, { ...machines, ...fields }] });

/** Old name → its section, the value written with it, and the current form. */
const CASES: Record<string, [old: Fields, current: Fields]> = {
  "cluster.network.podCidr": [
    { network: { podCidr: "10.9.0.0/16" } },
    { network: { podSubnet: "10.9.0.0/16" } },
  ],
  "cluster.network.serviceCidr": [
    { network: { serviceCidr: "10.9.0.0/16" } },
    { network: { serviceSubnet: "10.9.0.0/16" } },
  ],
  "openstack.network.dns": [
    { network: { externalNetwork: "public", dns: ["192.0.2.53"] } },
    { network: { externalNetwork: "public", dnsNameservers: ["192.0.2.53"] } },
  ],
  "openstack.pools[1].maxSurge": [withWorkers({ maxSurge: 2 }), withWorkers({ replacementsPerRun: 2 })],
  "openstack.pools[1].rootVolume.size": [
    withWorkers({ rootVolume: { size: 20 } }),
    withWorkers({ rootVolume: { sizeGiB: 20 } }),
  ],
  "tumblebug.groups[1].count": [withGroup({ replicas: undefined, count: 3 }), withGroup({ replicas: 3 })],
  "tumblebug.groups[1].rootDisk": [
    withGroup({ rootDisk: { type: "gp3" } }),
    withGroup({ rootVolume: { type: "gp3" } }),
  ],
  "tumblebug.groups[1].rootDisk.gibibytes": [
    withGroup({ rootDisk: { gibibytes: 50 } }),
    withGroup({ rootVolume: { sizeGiB: 50 } }),
  ],
  "tumblebug.caCertificates": [{ caCertificates: certificate }, { caBundle: certificate }],
  "tumblebug.machinesSeconds": [{ machinesSeconds: 60 }, { timeouts: { machinesSeconds: 60 } }],
  ...timeouts("azimuth", ["identity", "lease", "zenith", "deletion"]),
  ...timeouts("machinePool", ["bootstrap", "infrastructure", "nodes", "deletion"]),
};

function timeouts(section: string, names: string[]): Record<string, [Fields, Fields]> {
  return Object.fromEntries(
    names.map((name) => [
      `${section}.timeouts.${name}`,
      [{ timeouts: { [name]: 7 } }, { timeouts: { [`${name}Seconds`]: 7 } }],
    ]),
  );
}

/** The current path of each old name. */
const currentName = (old: string) =>
  old
    .replace("podCidr", "podSubnet")
    .replace("serviceCidr", "serviceSubnet")
    .replace(/dns$/, "dnsNameservers")
    .replace("maxSurge", "replacementsPerRun")
    .replace(/\.size$/, ".sizeGiB")
    .replace(/count$/, "replicas")
    .replace("rootDisk", "rootVolume")
    .replace("gibibytes", "sizeGiB")
    .replace("caCertificates", "caBundle")
    .replace("machinesSeconds", "timeouts.machinesSeconds")
    .replace(/(timeouts\.[a-z]+)$/, "$1Seconds");

describe("configuration: old names", () => {
  const valid = new Ajv({ strict: false }).compile(stackFileJsonSchema());
  const sectionOf = (name: string) => name.split(".")[0]!;

  for (const [name, [old, current]] of Object.entries(CASES))
    it(`${name} has the effect of its current name, and warns`, async () => {
      const today = await load(file(sectionOf(name), current));
      assert.deepEqual(today.warnings, []);
      const { value, warnings } = await load(file(sectionOf(name), old));
      assert.deepEqual(value, today.value);
      assert.equal(warnings.length, 1);
      const expected = `\n  ${name}: is deprecated; write ${currentName(name)}`;
      assert.ok(`${warnings[0]}\n`.includes(`${expected}\n`), `${warnings[0]} instead of ${expected}`);
      for (const config of [file(sectionOf(name), old), file(sectionOf(name), current)])
        assert.ok(valid(JSON.parse(JSON.stringify({ config }))), JSON.stringify(valid.errors));
    });

  it("all have a case here", () => {
    const patterns = Object.entries<ConfigurationKey>(CONFIGURATION_KEYS).flatMap(([key, { renames = {} }]) =>
      Object.keys(renames).map((from) => `${key}.${from}`),
    );
    const covered = Object.keys(CASES).map((name) => name.replace(/\[\d\]/g, "[]"));
    const written = patterns.map((pattern) => pattern.replace("rootVolume.gibibytes", "rootDisk.gibibytes"));
    assert.deepEqual(covered.sort(), written.sort());
  });

  it("are refused beside the current name, at the path that was written", async () => {
    const both = { network: { podCidr: "10.9.0.0/16", podSubnet: "10.9.0.0/16" } };
    await assert.rejects(
      load(file("cluster", both)),
      /\n {2}cluster\.network\.podCidr: is the old name of cluster\.network\.podSubnet, which is given, too; remove one$/,
    );
    assert.equal(valid({ config: file("cluster", both) }), false);
  });

  it("are in the paths of the issues of their values", async () => {
    const table: [string, Fields, string][] = [
      ["cluster", { network: { podCidr: "10.9.0.0/40" } }, "cluster.network.podCidr: "],
      [
        "tumblebug",
        withGroup({ rootDisk: { gibibytes: 0 } }),
        "tumblebug.groups[1].rootDisk.gibibytes: is 0; ",
      ],
      ["tumblebug", { machinesSeconds: 0 }, "tumblebug.machinesSeconds: is 0; "],
      ["machinePool", { timeouts: { nodes: "x" } }, "machinePool.timeouts.nodes: is the text "],
    ];
    for (const [section, fields, said] of table)
      await assert.rejects(load(file(section, fields)), (error: Error) =>
        error.message.includes(`\n  ${said}`),
      );
  });

  it("leave an invalid value where a field would move to, for its own issue", async () => {
    await assert.rejects(load(file("tumblebug", { machinesSeconds: 60, timeouts: 5 })), (error: Error) => {
      assert.match(
        error.message,
        /\n {2}tumblebug\.timeouts: is 5; write a map with the fields machinesSeconds/,
      );
      return error.message.includes("\n  tumblebug.machinesSeconds: is not known");
    });
  });
});
