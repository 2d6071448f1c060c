import assert from "node:assert/strict";
import type { KubernetesClient } from "../../lib/kubernetes";
import { API, SERVICES_ANNOTATION } from "../../providers/azimuth/plan/names";
import { assertInert } from "../unit/lib/text/hostile";
import { AzimuthHost } from "./azimuth-host";
import { makeClusterObjects } from "./azimuth-objects";

const HOSTILE = "\u001b[2J\r\n::error::x\n##vso[task.complete]\u202e\u200b@octocat";
const namespace = "az-demo";
const REF = { namespace, cluster: "demo", hasRecord: true };

/** The objects of a cluster "demo", with hostile text in every field that a schema leaves free. */
async function makeHostileObjects(
  client: KubernetesClient,
  place: { namespace: string; kubeconfig: string },
): Promise<void> {
  await makeClusterObjects(client, place);
  const service = { subdomain: HOSTILE, fqdn: HOSTILE, label: HOSTILE };
  const record = { apiVersion: API.azimuth, kind: "Cluster", namespace, name: "demo" };
  const status = {
    services: { [HOSTILE]: service },
    nodes: { [HOSTILE]: { role: "worker", phase: "Ready" } },
    addons: { [HOSTILE]: { phase: "Deployed", revision: 1 } },
    kubernetesVersion: HOSTILE,
  };
  await client.mergePatch(record, { status }, { subresource: "status" });
  await client.mergePatch(
    { apiVersion: API.addons, kind: "HelmRelease", namespace, name: "demo-site" },
    { metadata: { annotations: { [SERVICES_ANNOTATION]: JSON.stringify({ [HOSTILE]: service }) } } },
  );
  await client.create({
    apiVersion: API.azimuth,
    kind: "ClusterTemplate",
    metadata: { name: "hostile" },
    spec: {
      label: HOSTILE,
      description: HOSTILE,
      values: { kubernetesVersion: HOSTILE, machineImageId: HOSTILE },
    },
  });
}

/** A kubeconfig whose error names a hostile context. */
const BROKEN = Buffer.from(
  JSON.stringify({ clusters: [], users: [], contexts: [{ name: HOSTILE, context: { cluster: "x" } }] }),
).toString("base64");

describe("objects of a hostile management cluster with Azimuth", function () {
  this.timeout(90_000);
  const fixture = new AzimuthHost({ prepare: makeHostileObjects });
  const { inputs } = fixture;

  const breakKubeconfig = () =>
    fixture.client.mergePatch(
      { apiVersion: "v1", kind: "Secret", namespace, name: "demo-kubeconfig" },
      { data: { value: BROKEN } },
    );

  it("act in no step, refusal, message or error of a run", async () => {
    const said: string[] = [];
    const collect = (error: Error) => void said.push(error.message);
    const checks = [
      ["azimuth/ServiceSync", inputs({ hasRecord: true })],
      ["azimuth/RecordPrune", inputs({ leased: false })],
      ["azimuth/StatusStamp", inputs({ moment: "end", fingerprint: "1" })],
      [
        "kubernetes/ObjectReady",
        inputs({
          object: { apiVersion: API.azimuth, kind: "ClusterTemplate", name: "hostile" },
          wait: { fields: { values: "spec.values" } },
          guard: { rule: "azimuth/TemplateChange", ...REF },
          mustExist: true,
          timeoutSeconds: 2,
        }),
      ],
    ] as const;
    for (const [key, desired] of checks) {
      await fixture.host
        .check(key, {}, desired)
        .then(
          (checked) =>
            void said.push(...(checked.inputs["steps"] as string[]), JSON.stringify(checked.refusals)),
        )
        .catch(collect);
      await fixture.host.create(key, desired).catch(collect);
    }
    await breakKubeconfig();
    await fixture.host
      .check("azimuth/ServiceSync", {}, inputs({ hasRecord: true }))
      .then(({ refusals }) => void said.push(...refusals.map(({ reason }) => reason)))
      .catch(collect);
    assert.match(said.join("\n") + fixture.host.printed, /octocat/, "the objects' words are shown");
    for (const text of [...said, fixture.host.printed]) assertInert(text);
    assert.doesNotMatch(fixture.host.printed, /^ +at /m);
  });
});
