import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "mocha";
import { parse, stringify } from "yaml";
import { EXIT } from "../../cli/terminal/exit-codes";
import { KubernetesClient, KubernetesError, type NewObject } from "../../lib/kubernetes";
import { projectFolder } from "../../sandbox/paths";
import { BareApiServer } from "../simulation/bare-api-server";
import { simulationPrograms } from "../simulation/programs";
import { PlanCluster } from "./plan-cluster";

interface Role extends NewObject {
  rules: { resources?: string[]; verbs: string[]; resourceNames?: string[] }[];
}

const NAME = "foresail-plan";
const role = parse(readFileSync(path.join(projectFolder, "examples/plan/cluster-role.yaml"), "utf8")) as Role;
const POLICY = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  rules: [{ level: "Metadata" }],
  omitStages: ["RequestReceived"],
};

describe("foresail plan against a real API server", function () {
  this.timeout(60_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-plan-"));
  const auditLog = path.join(folder, "audit.log");
  let api: BareApiServer;
  let admin: KubernetesClient;
  let cluster: PlanCluster;
  let reader: string;

  before(async function () {
    // the programs may have to be built first
    this.timeout(1_800_000);
    const policy = path.join(folder, "policy.yaml");
    writeFileSync(policy, stringify(POLICY));
    const apiServerArguments = [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`];
    const { etcd, kubeApiserver } = await simulationPrograms();
    api = await new BareApiServer({ programs: { etcd, kubeApiserver }, apiServerArguments }).start();
    admin = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 10 });
    cluster = new PlanCluster(admin);
    for (const name of ["cp-1", "cp-2", "cp-3", "w-1", "w-2"]) await cluster.node(name, "1.35.4");
    await cluster.kubeadmConfig("1.35.4");
    // all three are this server, which is asked once
    for (const name of ["cp-1", "cp-2", "cp-3"]) await cluster.apiServer(name, api.port);
    await cluster.namespace("shop");
    await cluster.pod("api-1", "w-1", { owner: "ReplicaSet", app: "api" });
    await cluster.claim("data-db-0");
    await cluster.pod("db-0", "w-1", { owner: "StatefulSet", app: "db", claim: "data-db-0" });
    await cluster.budget("db", "db", 1);
    reader = kubeconfigOf(await cluster.reader(NAME, role), "reader");
  });
  after(async () => {
    admin?.close();
    await api?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A kubeconfig whose user has this token. @returns its file */
  function kubeconfigOf(token: string, name: string): string {
    const config = parse(api.kubeconfig()) as { users: { name: string; user: object }[] };
    const users = [{ name: "kubernetes-admin", user: { token } }];
    const file = path.join(folder, name);
    writeFileSync(file, stringify({ ...config, users }), { mode: 0o600 });
    return file;
  }

  async function foresail(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
    const cli = path.join(projectFolder, "bin/cli/cli.js");
    const child = spawn(process.execPath, [cli, "plan", ...args], { env: { ...process.env, NO_COLOR: "1" } });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, out, err };
  }
  const plan = (file: string, ...more: string[]) => foresail("--kubeconfig", file, "--to", "1.36.3", ...more);

  it("forecasts a cluster that it has never seen, with only the shipped role, and exits with 0", async () => {
    const { code, out, err } = await plan(reader);
    assert.equal(code, 0, out + err);
    assert.match(out, /1\. cp-1 1\.35\.4 → 1\.36\.3 \(cordon, drain, kubeadm upgrade apply, uncordon\)\n/);
    assert.match(out, /5\. w-2 1\.35\.4 → 1\.36\.3 /);
    assert.doesNotMatch(out, /may not/);
    assert.match(out, /\nClean: nothing blocks this rollout\.\n$/);
  });

  it("requests what the role allows from the API server, once each, and nothing else", () => {
    type Line = { user?: { username: string }; verb: string; requestURI: string };
    const lines = readFileSync(auditLog, "utf8").trim().split("\n");
    const asked = lines
      .map((line) => JSON.parse(line) as Line)
      .filter(({ user }) => user?.username === `system:serviceaccount:kube-system:${NAME}`)
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`);
    // the connection's own requests: is it ready, may these credentials read
    const first = ["get /readyz", "list /api/v1/nodes?limit=1"];
    assert.deepEqual(
      asked.filter((line) => !first.includes(line)),
      [
        "list /api/v1/nodes?limit=500",
        "get /api/v1/namespaces/kube-system/configmaps/kubeadm-config",
        "get /version",
        "list /api/v1/pods?limit=500",
        "list /apis/policy/v1/poddisruptionbudgets?limit=500",
        "get /metrics",
        "list /api/v1/persistentvolumeclaims?limit=500",
        "list /api/v1/persistentvolumes?limit=500",
      ],
    );
  });

  it("ships a role that only gets and lists, without an unneeded rule", async () => {
    assert.deepEqual([...new Set(role.rules.flatMap(({ verbs }) => verbs))].sort(), ["get", "list"]);
    const parts = role.rules.flatMap((rule) =>
      (rule.resources ?? [""]).map((resource) => ({ rule, resource })),
    );
    const unmet: string[] = [];
    for (const [index, { rule, resource }] of parts.entries()) {
      if (resource === "nodes") continue;
      const rest = rule.resources?.filter((name) => name !== resource) ?? [];
      const rules = role.rules.flatMap((other) => {
        if (other !== rule) return [other];
        return rest.length > 0 ? [{ ...rule, resources: rest }] : [];
      });
      const token = await cluster.reader(`${NAME}-${index}`, { ...role, rules });
      const { code, out } = await plan(kubeconfigOf(token, `without-${index}`));
      // what could hide a blocker: not clean, and an exit code of its own
      const hides = resource !== "configmaps" && resource !== "";
      assert.equal(code, hides ? EXIT.unknown : EXIT.done, out);
      assert.match(out, hides ? /\nUnknown: 1 check could not be made\./ : /\nClean: /);
      const missing = [...out.matchAll(/these credentials may not ([^:]*)/g)].map(([, what = ""]) => what);
      assert.equal(missing.length, 1, `nothing needs ${JSON.stringify(rule)}`);
      unmet.push(...missing);
    }
    assert.deepEqual(unmet, [
      "list pods",
      "list PersistentVolumeClaims",
      "list PersistentVolumes",
      "list PodDisruptionBudgets",
      "get the ConfigMap kube-system/kubeadm-config",
      "get /metrics",
    ]);
  });

  it("requires access to nodes, and says so", async () => {
    const rules = role.rules.filter(({ resources }) => !resources?.includes("nodes"));
    const token = await cluster.reader(`${NAME}-blind`, { ...role, rules });
    const { code, err } = await plan(kubeconfigOf(token, "blind"));
    assert.equal(code, 1);
    assert.match(err, /blind \(context admin\): .*cannot list resource "nodes"/);
  });

  it("can't change anything with that role", async () => {
    const client = await KubernetesClient.connect(
      { kubeconfig: readFileSync(reader, "utf8") },
      { seconds: 10 },
    );
    const node = { apiVersion: "v1", kind: "Node", name: "w-1" };
    const denied = (error: unknown) => error instanceof KubernetesError && error.status === 403;
    await assert.rejects(client.mergePatch(node, { spec: { unschedulable: true } }), denied);
    await assert.rejects(client.evict({ namespace: "shop", name: "api-1" }), denied);
    await assert.rejects(client.list({ apiVersion: "v1", kind: "Secret" }), denied);
    client.close();
  });

  it("names the budget that blocks, the pods that would be lost, and exits with 5", async () => {
    await cluster.pod("web-1", "w-1", { owner: "ReplicaSet", app: "web" });
    await cluster.pod("web-2", "w-2", { owner: "ReplicaSet", app: "web" });
    await cluster.pod("cache-0", "w-2", { owner: "StatefulSet", emptyDir: "data" });
    await cluster.pod("migration", "w-1", {});
    await cluster.budget("web", "web");
    const { code, out } = await plan(reader);
    assert.equal(code, EXIT.blocked, out);
    // the page shows just this
    const page = readFileSync(path.join(projectFolder, "docs/plan.md"), "utf8");
    assert.ok(page.includes(`\n${out.replace(`:${api.port}`, ":6443")}\`\`\`\n`), out);
    assert.match(
      out,
      /✗ PodDisruptionBudget shop\/web allows no eviction now \(2 healthy, 2 needed\): it blocks web-1 on w-1, web-2 on w-2/,
    );
    assert.match(out, /✗ w-1: shop\/migration has no controller/);
    assert.match(out, /✗ w-2: the data in emptyDir volumes is lost: shop\/cache-0 \(data\)/);
    const json = await plan(reader, "--output", "json", "--force");
    assert.equal((JSON.parse(json.out) as { steps: unknown[] }).steps.length, 5);
    assert.equal(json.code, EXIT.blocked);
    assert.match((await plan(reader, "--markdown")).out, /^## Rollout to 1\.36\.3\n\n\*\*Blocked\*\* by 3/);
  });

  it("exits with an error that names the file and what to do", async () => {
    const cases: [string[], RegExp, number?][] = [
      [
        ["--kubeconfig", "/nowhere", "--to", "1.36.3"],
        /can't read the kubeconfig \/nowhere: there is no such file/,
      ],
      [["--kubeconfig", reader, "--to", "1.36"], /--to 1\.36: it has to be MAJOR\.MINOR\.PATCH/, EXIT.usage],
      [
        ["--kubeconfig", reader, "--to", "1.36.3", "--context", "x"],
        /reader has no context "x": it has admin/,
      ],
    ];
    for (const [args, words, expected = EXIT.failed] of cases) {
      const { code, err } = await foresail(...args);
      assert.equal(code, expected, err);
      assert.match(err, words);
    }
    const gone = path.join(folder, "gone");
    writeFileSync(gone, readFileSync(reader, "utf8").replaceAll(`:${api.port}`, ":1"));
    const { code, err } = await plan(gone);
    assert.equal(code, 1, err);
    assert.match(
      err,
      /gone \(context admin\): no Kubernetes API answered within 15 s \(https:\/\/127\.0\.0\.1:1\).*Check that/s,
    );
  });
});
