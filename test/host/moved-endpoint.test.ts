import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { installersOf } from "../../providers/kubeadm/machine/node-agent";
import { configurationVersions } from "../../providers/kubeadm/plan/configuration/configuration";
import { rolledConfiguration } from "../../providers/kubeadm/plan/configuration/rolled-configuration";
import { withConfiguration } from "../../providers/kubeadm/plan/rollout/node-agents";
import { memberState } from "../simulation/fleet-files";
import { SimulatedFleet } from "../simulation/simulated-fleet";
import { exampleMachine, exampleSpecification } from "../unit/providers/kubeadm/machine/examples";
import { common } from "./handler-samples";
import { ServedHost } from "./served-host";
import { clusterInitSteps } from "../../providers/kubeadm/plan/steps";
import { stepsOfKind } from "../support/steps";

const KEY = "kubeadm/ClusterInit";
const NAMES = ["cp-1", "cp-2", "w-1"];
const at = (host: string) => exampleSpecification({ endpoint: { external: { host, port: 6443 } } });

describe("another endpoint of a cluster, in Pulumi's own process", function () {
  this.timeout(60_000);
  const served = new ServedHost();
  let fleet: SimulatedFleet;

  before(async () => {
    const kubeconfigFile = path.join(served.host.folder, "admin.conf");
    writeFileSync(kubeconfigFile, served.kubeconfig, { mode: 0o600 });
    const api = { kubeconfigFile, port: served.server.port };
    fleet = await SimulatedFleet.start({ api, machines: NAMES });
    for (const name of NAMES) answers(name, {});
  });
  after(() => fleet.stop());

  /** Lets a machine answer for the new endpoint. */
  const answers = (name: string, endpoint: Record<string, string>) =>
    fleet.files.saveState(name, { ...memberState("demo", name, name !== "w-1"), endpoint });
  const inputs = (specification = at("lb-1")) => ({
    ...common,
    specification,
    machines: NAMES.map((name) => exampleMachine(name, fleet.machine(name))),
    credentials: { privateKey: fleet.privateKey },
    timeouts: { ssh: 3, dial: 1, prepare: 20, init: 1, join: 1, ready: 1 },
    registryCredentials: {},
  });
  const check = () => host().check(KEY, inputs(), inputs(at("lb-2")));
  const host = () => served.host;
  const done = () => fleet.journal.map(({ machine, operation }) => `${machine} ${operation}`);

  it("is listed after every machine has said that it reaches it, and nothing is written", async () => {
    const { inputs: news, refusals } = await check();
    assert.deepEqual(refusals, []);
    assert.deepEqual(news["steps"], [
      "configuration: cluster.endpoint.external.host; each node gets it from its rollout",
      "cluster: write the endpoint lb-2:6443 into kubeadm-config, cluster-info and the configuration of kube-proxy, and restart kube-proxy on each node in turn",
    ]);
    assert.deepEqual(
      [...new Set(done())].sort(),
      NAMES.map((name) => `${name} endpoint-facts`),
    );
  });

  it("leaves kube-proxy out where the cluster has none", async () => {
    answers("cp-1", { kubeProxy: "no" });
    const { inputs: news } = await check();
    const [endpoint] = stepsOfKind(clusterInitSteps, "endpoint", news["steps"]);
    assert.ok(endpoint && endpoint.kubeProxy !== true);
    answers("cp-1", {});
  });

  it("is refused while a control plane's certificate lacks its name, and by the run before it writes", async () => {
    answers("cp-2", { unnamed: "no alternative certificate subject name matches" });
    const { inputs: news, refusals } = await check();
    assert.deepEqual(
      refusals.map(({ property }) => property),
      ["cluster.endpoint.external.host"],
    );
    assert.match(refusals[0]!.reason, /^cp-2: the certificate of its API server is not for "lb-2"/);
    await assert.rejects(host().update(KEY, inputs(), news), /cluster\.endpoint\.external\.host: cp-2: /);
    assert.ok(!done().some((operation) => operation.endsWith("move-endpoint")));
    answers("cp-2", {});
  });

  it("is not moved to while a machine does not answer: the preview names it, and the run fails", async () => {
    fleet.powerOff("w-1");
    const { inputs: news, refusals } = await check();
    assert.deepEqual(refusals, []);
    await assert.rejects(host().update(KEY, inputs(), news), /w-1/);
    assert.ok(!done().some((operation) => operation.endsWith("move-endpoint")));
    fleet.powerOn("w-1");
  });

  it("reaches the node agents as an installer that knows the endpoints before it", () => {
    const news = at("lb-2");
    const rolled = rolledConfiguration({ specification: at("lb-1") }, news);
    const staged = withConfiguration({ kubernetes: ["1.36.3"], software: {} }, rolled, news);
    for (const role of ["control-plane", "worker"] as const) {
      const installer = installersOf(news, staged, { role, group: role }).find(
        ({ software }) => software === "configuration",
      );
      assert.equal(installer?.version, configurationVersions(news, rolled)[role]);
      assert.match(installer.header, /^ENDPOINT='lb-2:6443'\nFORMER_ENDPOINTS=\('lb-1:6443'\)$/m);
    }
  });
});
