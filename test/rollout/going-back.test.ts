import assert from "node:assert/strict";
import { FAILED_CHANGE } from "../../providers/kubeadm/plan/rollout/annotations";
import { TestCluster } from "../cluster/test-cluster";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";

const MACHINES = ["cp-1", "w-1", "w-2"];
const [FROM, TO] = ["1.35.4", "1.36.3"];
/** Of the kubelet on w-1: ends it before its start when it has the new version. */
const BREAKING = "/etc/systemd/system/kubelet.service.d/99-test.conf";
const KUBELET_FILES = "cat /var/lib/kubelet/config.yaml /var/lib/kubelet/kubeadm-flags.env | sha256sum";
const KEEP = process.env.FORESAIL_TEST_KEEP === "1";

describe("nodes that go back, on real nodes", function () {
  let cluster: TestCluster;

  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1" && !KEEP)
      leaveOut(
        this,
        "ssh.test.ts lets a worker go back from a configuration; FORESAIL_TEST_ALL=1 has versions, too",
      );
    cluster = await TestCluster.open("back", { keep: KEEP, versions: [FROM, TO] });
  });

  oneAfterTheOther(KEEP);

  after(async () => {
    // absent when the suite is left out
    if (!KEEP) await (cluster as TestCluster | undefined)?.remove();
  });

  const desired = (version: string, rollout = {}) => ({
    machines: MACHINES,
    fields: {
      version,
      source: { bundle: { path: "/opt/foresail/bundle/v{version}" } },
      rollout: { onFailure: "back", ...rollout },
    },
  });
  const nodes = async () => cluster.withApi((client) => client.listNodes());
  const versions = async () =>
    Object.fromEntries(
      (await nodes()).map(({ metadata, status }) => [metadata?.name ?? "", status?.nodeInfo?.kubeletVersion]),
    );

  it("come up", async () => {
    await cluster.configure(desired(FROM));
    await cluster.up();
  });

  it("have their former version when the kubelet does not start with the new one, and no other worker gets it", async () => {
    await cluster.onMachine(
      "w-1",
      `mkdir -p ${BREAKING.replace(/\/[^/]*$/, "")}
printf '[Service]\\nExecStartPre=/bin/sh -c "! kubelet --version | grep -qF ${TO}"\\n' >${BREAKING}
systemctl daemon-reload`,
    );
    const before = await cluster.onMachine("w-1", KUBELET_FILES);
    await cluster.configure(desired(TO));
    const output = (await cluster.failingUp()).replaceAll(/\n\s*/g, " ");
    assert.match(
      output,
      /w-1: restart the kubelet: systemd does not start kubelet \(.*status=1\/FAILURE.*; w-1 went back to what it had, and takes pods/,
    );
    assert.deepEqual(await versions(), { "cp-1": `v${TO}`, "w-1": `v${FROM}`, "w-2": `v${FROM}` });
    assert.equal(await cluster.onMachine("w-1", KUBELET_FILES), before);
    for (const { spec, metadata } of await nodes())
      assert.equal(spec?.unschedulable, undefined, metadata?.name);
  });

  it("are first in the next run, which ends when the cause is gone", async () => {
    const { steps, notes } = await cluster.preview();
    const lines = steps[`${cluster.name}-rollout`] ?? [];
    assert.deepEqual(
      lines.map((line) => line.split(" ")[0]),
      ["w-1", "w-2"],
    );
    assert.match(notes.join("\n"), /w-1: went back from this change in an earlier run/);
    await cluster.onMachine("w-1", `rm ${BREAKING}; systemctl daemon-reload`);
    await cluster.up();
    assert.deepEqual(await versions(), Object.fromEntries(MACHINES.map((name) => [name, `v${TO}`])));
    assert.deepEqual((await cluster.preview()).changes, []);
    for (const { metadata } of await nodes()) assert.equal(metadata?.annotations?.[FAILED_CHANGE], undefined);
    assert.match(await cluster.onMachine("w-1", "ls /var/lib/foresail/agent"), /^(?!.*\bbefore\b)/s);
  });
});
