import assert from "node:assert/strict";
import { containerNodeSettings } from "../../sandbox/nodes";
import { assertReleased, CONFIGURATION, draftedStack, TRACES } from "../cluster/adopted-cluster";
import { makePlainCluster, plainKubeconfig } from "../cluster/plain-cluster";
import { makeServing } from "../cluster/serving-deployment";
import { STATIC_ENDPOINT, writeStaticEndpoint } from "../cluster/static-endpoint";
import { TestCluster } from "../cluster/test-cluster";
import { withApi } from "../cluster/with-api";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";

const MACHINES = ["cp-1", "w-1"];
const POD_SUBNET = "10.245.0.0/16";

describe("a cluster whose address a static pod holds, that others made", function () {
  let cluster: TestCluster;
  let kubeconfig = "";
  let address = "";
  let service = "";
  let untouched = { configuration: [] as string[], traces: [] as string[], holder: "" };

  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(this, "adopted.test.ts adopts a plain one by default; FORESAIL_TEST_ALL=1 includes this one");
    cluster = await TestCluster.open("held");
  });

  oneAfterTheOther();

  after(async () => {
    // absent when the suite is left out
    await (cluster as TestCluster | undefined)?.remove();
  });

  const onEach = (script: string) =>
    Promise.all(MACHINES.map((machine) => cluster.onMachine(machine, script)));
  /** What was there before foresail: files, traces of its name, the held address and the process that holds it. */
  const observed = async () => ({
    configuration: await onEach(CONFIGURATION),
    traces: await onEach(TRACES),
    holder: await cluster.onMachine(
      "cp-1",
      `ip -oneline -4 address show to ${address}; pgrep -fx "sleep infinity"`,
    ),
  });
  const assertServing = async () => {
    const ask = "curl --fail --silent --insecure --max-time 10";
    await cluster.onMachine("w-1", `${ask} https://${address}:6443/readyz && ${ask} ${service}`);
  };

  it("is described by `foresail adopt`, which names the static pod that the stack file can't say", async () => {
    await cluster.configure({ machines: MACHINES });
    address = await writeStaticEndpoint(cluster, "cp-1");
    const plain = { controlPlanes: ["cp-1"], workers: ["w-1"], podSubnet: POD_SUBNET };
    await makePlainCluster(cluster, { ...plain, endpoint: `${address}:6443` });
    kubeconfig = await plainKubeconfig(cluster, "cp-1");
    service = await withApi(kubeconfig, (client) => makeServing(client, { name: "serving", replicas: 2 }));
    untouched = await observed();
    await assertServing();
    const { draft, said } = await draftedStack(cluster, kubeconfig, MACHINES);
    assert.deepEqual(draft.endpoint, { external: { host: address, port: 6443 } });
    assert.ok(
      said.some((line) => line.includes("static pods that kubeadm did not write (held-address): they stay")),
      said.join("\n"),
    );
    const { machines: _, ...drafted } = draft;
    const { ignorePreflightErrors } = containerNodeSettings;
    const ofCluster = { kubeadm: undefined, kubelet: undefined, kubeProxy: undefined };
    await cluster.configure({
      machines: MACHINES,
      fields: { ...ofCluster, ...drafted, ignorePreflightErrors },
    });
  });

  it("is adopted with everything as it was, the static pod's process too, and a second preview is empty", async () => {
    await cluster.up();
    const { traces: _, ...now } = await observed();
    const { traces: __, ...before } = untouched;
    assert.deepEqual(now, before);
    assert.match(await cluster.onMachine("cp-1", `cat ${STATIC_ENDPOINT}`), new RegExp(`${address}/32`));
    assert.deepEqual((await cluster.preview()).changes, []);
    await assertServing();
  });

  it("is released by `foresail release`: everything is as it was, and it keeps serving", async () => {
    const { exitCode, stdout, stderr } = await cluster.foresail("release", "--yes");
    assert.equal(exitCode, 0, stdout + stderr);
    assert.deepEqual(await observed(), untouched);
    await assertServing();
    await assertReleased(kubeconfig, MACHINES);
  });
});
