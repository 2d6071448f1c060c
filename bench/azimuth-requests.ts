import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Toolchain } from "../sandbox/toolchain";
import { configure, startAzimuth } from "../test/engine/azimuth-fixture";
import type { Row } from "./results";
import { summarize } from "./statistics";

// in the folder of the API server, where it runs
const AUDIT_POLICY = "audit-policy.yaml";
const AUDIT_LOG = "audit.log";
/** Clusters on one management cluster, each a stack's. */
const CLUSTERS = 10;

/** Requests and seconds of an `up` without changes: of the only cluster of a management cluster, and of one of ten. */
export async function measureRequests(toolchain: Toolchain, say: (line: string) => void): Promise<Row[]> {
  const apiServerArguments = [`--audit-policy-file=${AUDIT_POLICY}`, `--audit-log-path=${AUDIT_LOG}`];
  const fixture = await startAzimuth(toolchain, { apiServerArguments }, ({ folder }) =>
    writeFileSync(
      path.join(folder, AUDIT_POLICY),
      "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{ level: Metadata }]\n",
    ),
  );
  const requests = () =>
    readFileSync(path.join(fixture.api.folder, AUDIT_LOG), "utf8")
      .split("\n")
      .filter((line) => line.includes('"userAgent":"foresail/') && line.includes("foresail/test")).length;
  const unchanged = async (clusters: number): Promise<Row[]> => {
    const before = requests();
    const began = performance.now();
    const changes = Object.keys(await fixture.stack.up());
    const seconds = (performance.now() - began) / 1000;
    if (changes.join() !== "unchanged") throw new Error(`the up changed something: ${changes.join(", ")}`);
    const count = requests() - before;
    say(`up without changes, ${clusters} clusters: ${count} requests, ${seconds.toFixed(1)} s`);
    const what = `up without changes, ${clusters === 1 ? "the only cluster" : `one of ${clusters} clusters`}`;
    return [
      { what: `${what}: requests`, unit: "", figure: summarize([count]) },
      { what: `${what}: time`, unit: "s", figure: summarize([seconds]) },
    ];
  };
  try {
    configure(fixture);
    await fixture.stack.up();
    // the services that came with the cluster
    await fixture.stack.up();
    const rows = await unchanged(1);
    for (let index = 2; index <= CLUSTERS; index++) {
      const stack = await fixture.stackOf(`bench-${index}`).create();
      await stack.setSecret("managementKubeconfig", fixture.api.kubeconfig());
      stack.configure(fixture.values({ name: `demo-${index}`, leaseName: undefined }));
      await stack.up();
      say(`${index} clusters`);
    }
    return [...rows, ...(await unchanged(CLUSTERS))];
  } finally {
    await fixture.stop();
  }
}
