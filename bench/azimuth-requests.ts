import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Toolchain } from "../sandbox/toolchain";
import { configure, startAzimuth } from "../test/engine/azimuth-ground";
import type { Row } from "./results";
import { summarise } from "./statistics";

// in the folder of the API server, where it runs
const AUDIT_POLICY = "audit-policy.yaml";
const AUDIT_LOG = "audit.log";
/** Clusters on one management cluster, each a stack's. */
const CLUSTERS = 10;

/** Requests and seconds of an `up` without changes: of the only cluster of a management cluster, and of one of ten. */
export async function measureRequests(toolchain: Toolchain, say: (line: string) => void): Promise<Row[]> {
  const apiServerArguments = [`--audit-policy-file=${AUDIT_POLICY}`, `--audit-log-path=${AUDIT_LOG}`];
  const ground = await startAzimuth(toolchain, { apiServerArguments }, ({ folder }) =>
    writeFileSync(
      path.join(folder, AUDIT_POLICY),
      "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{ level: Metadata }]\n",
    ),
  );
  const requests = () =>
    readFileSync(path.join(ground.api.folder, AUDIT_LOG), "utf8")
      .split("\n")
      .filter((line) => line.includes('"userAgent":"foresail/') && line.includes("foresail/test")).length;
  const unchanged = async (clusters: number): Promise<Row[]> => {
    const before = requests();
    const began = performance.now();
    const changes = Object.keys(await ground.stack.up());
    const seconds = (performance.now() - began) / 1000;
    if (changes.join() !== "unchanged")
      throw new Error(`the up was to change nothing: ${changes.join(", ")}`);
    const count = requests() - before;
    say(`up without changes, ${clusters} clusters: ${count} requests, ${seconds.toFixed(1)} s`);
    const what = `up without changes, ${clusters === 1 ? "the only cluster" : `one of ${clusters} clusters`}`;
    return [
      { what: `${what}: requests`, unit: "", figure: summarise([count]) },
      { what: `${what}: time`, unit: "s", figure: summarise([seconds]) },
    ];
  };
  try {
    configure(ground);
    await ground.stack.up();
    // the services that came with the cluster
    await ground.stack.up();
    const rows = await unchanged(1);
    for (let index = 2; index <= CLUSTERS; index++) {
      const stack = await ground.stackOf(`bench-${index}`).create();
      await stack.setSecret("managementKubeconfig", ground.api.kubeconfig());
      stack.configure(ground.values({ name: `demo-${index}`, leaseName: undefined }));
      await stack.up();
      say(`${index} clusters`);
    }
    return [...rows, ...(await unchanged(CLUSTERS))];
  } finally {
    await ground.stop();
  }
}
