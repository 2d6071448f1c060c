import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { parse } from "yaml";
import { awaitNode } from "../cluster/await-node";
import {
  awaitCertificates,
  endOnMachine,
  shortenCertificates,
  shortenKubelet,
} from "../cluster/certificates";
import { etcdAt } from "../cluster/etcd";
import { readyNodes } from "../cluster/reachability";
import { TestCluster } from "../cluster/test-cluster";
import { withApi } from "../cluster/with-api";
import type { StatusReport } from "../../cli/status/status";
import { oneAfterTheOther } from "../one-after-the-other";

const KEEP = process.env.FORESAIL_TEST_KEEP === "1";
const PLANES = ["cp-1", "cp-2", "cp-3"];
const PKI = "/etc/kubernetes/pki";
const KUBELET = "/var/lib/kubelet/pki/kubelet-client-current.pem";
const DAY = 86_400_000;
const dayIn = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);
/** When the processes of static pods have started. */
const STARTS =
  "stat --format='%n %Y' $(grep -lxE 'etcd|kube-(apiserver|scheduler|controller)' /proc/[0-9]*/comm | xargs dirname)";

/** As after a power cut: nothing has the connections of before the end. */
const STOP_STATIC_PODS =
  "systemctl stop kubelet; pkill -x etcd; pkill -x kube-apiserver; systemctl start kubelet";

describe("the certificates of a cluster", function () {
  this.timeout(1_500_000);
  let cluster: TestCluster;
  before(async () => (cluster = await TestCluster.open("certs", { keep: KEEP })));
  oneAfterTheOther(KEEP);
  after(async () => {
    if (!KEEP) await cluster.remove();
  });

  const rollout = async () => (await cluster.preview()).steps[`${cluster.name}-rollout`] ?? [];
  /** When the certificate in the stack's kubeconfig ends. */
  const kubeconfigEnds = async () => {
    const { users } = parse((await cluster.kubeconfig()).text) as {
      users: { user: { "client-certificate-data": string } }[];
    };
    const [{ user } = { user: { "client-certificate-data": "" } }] = users;
    return new Date(new X509Certificate(Buffer.from(user["client-certificate-data"], "base64")).validTo);
  };

  it("are reported by the node agents, and their end is an output", async () => {
    await cluster.configure({ machines: PLANES });
    await cluster.up();
    assert.deepEqual(await readyNodes(cluster), PLANES);
    for (const name of PLANES)
      await awaitCertificates(cluster, name, "all certificates", ({ ends, isForeign }) => {
        const names = ends.map((one) => one.name);
        return (
          !isForeign &&
          ["etcd-peer", "scheduler.conf", "kubelet-client", "etcd-ca"].every((one) => names.includes(one))
        );
      });
    assert.deepEqual(await rollout(), []);
  });

  it("are renewed on one control plane after the other, as the preview lists them, and the kubeconfig follows", async () => {
    for (const name of PLANES.slice(0, 2)) {
      await shortenCertificates(cluster, name, "240h");
      await awaitCertificates(cluster, name, "a near end", ({ ends }) =>
        ends.some((one) => one.ends.startsWith(dayIn(10))),
      );
    }
    const { steps, notes } = await cluster.preview();
    const listed = steps[`${cluster.name}-rollout`] ?? [];
    assert.deepEqual(
      listed.map((line) => line.replace(/renew \d+ cert/, "renew N cert")),
      PLANES.slice(0, 2).map(
        (name) =>
          `${name}: renew N certificates (the first ends on ${dayIn(10)}), restart etcd, the API server, the controller manager and the scheduler`,
      ),
    );
    assert.match(notes.join("\n"), /cp-1: 9 days left until the first certificate that is renewed ends/);
    const before = await Promise.all(PLANES.map((name) => cluster.onMachine(name, STARTS)));
    await cluster.up();
    const after = await Promise.all(PLANES.map((name) => cluster.onMachine(name, STARTS)));
    assert.notEqual(after[0], before[0]);
    assert.notEqual(after[1], before[1]);
    assert.equal(after[2], before[2]);
    for (const name of PLANES) {
      const end = await endOnMachine(cluster, name, `${PKI}/apiserver-etcd-client.crt`);
      assert.ok(end.getTime() > Date.now() + 300 * DAY, `${name}: ${end.toISOString()}`);
      assert.deepEqual(await etcdAt(cluster, name), { members: PLANES, healthy: true });
    }
    assert.deepEqual((await cluster.preview()).changes, []);
    assert.ok((await kubeconfigEnds()).getTime() > Date.now() + 300 * DAY);
  });

  it("are in the status, and a kubeconfig with a new one works until it ends", async () => {
    // the pods of etcd that the kubelet mirrors come back a little later
    let status = await cluster.foresail("status", "--output", "json");
    for (const end = Date.now() + 120_000; status.exitCode === 11 && Date.now() < end;)
      status = await cluster.foresail("status", "--output", "json");
    assert.equal(status.exitCode, 0, status.stdout + status.stderr);
    const { nodes, etcd } = JSON.parse(status.stdout) as StatusReport;
    assert.deepEqual(
      nodes.map(({ name, ready, drift }) => [name, ready, drift]),
      PLANES.map((name) => [name, true, undefined]),
    );
    assert.ok(nodes.every(({ certificatesEnd = "" }) => certificatesEnd > dayIn(300)));
    assert.deepEqual(etcd, { members: 3, ready: 3 });
    const history = await cluster.foresail("history");
    assert.match(history.stdout, /cp-2: renew \d+ certificates .*: done, \d+ s$/m);
    const minted = await cluster.foresail("kubeconfig", "--ttl", "10m", "--user", "ann");
    assert.equal(minted.exitCode, 0, minted.stderr);
    assert.deepEqual(
      await withApi(minted.stdout, async (client) =>
        (await client.listNodes()).map(({ metadata }) => metadata?.name),
      ),
      PLANES,
    );
    const requests = await cluster.withApi((client) =>
      client.list({ apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest" }),
    );
    assert.ok(!requests.some(({ metadata }) => metadata?.name?.startsWith("foresail-")));
  });

  for (const [where, planes] of [
    ["everywhere", PLANES],
    ["on one control plane alone", ["cp-3"]],
  ] as const)
    it(`that have ended ${where} are renewed over SSH, as the preview lists them, before anything else`, async () => {
      for (const name of planes) await shortenCertificates(cluster, name, "1s");
      for (const name of planes) await cluster.onMachine(name, STOP_STATIC_PODS);
      const { steps } = await cluster.preview();
      const listed = steps[`${cluster.name}-kubeconfig`] ?? [];
      assert.deepEqual(
        listed.map((line) => line.replace(/renew \d+ cert/, "renew N cert")),
        planes.map(
          (name) =>
            `${name}: renew N certificates over SSH, since the first one ended on ${dayIn(0)}, and restart etcd, the API server, the controller manager and the scheduler`,
        ),
      );
      await cluster.up();
      for (const name of PLANES)
        assert.deepEqual(await etcdAt(cluster, name), { members: PLANES, healthy: true });
      assert.deepEqual(await readyNodes(cluster), PLANES);
      // the new kubeconfig is recorded, without a step
      assert.deepEqual((await cluster.preview()).steps, {});
    });

  it("of a kubelet that have ended are named in the preview, and signed again as a step", async () => {
    await shortenKubelet(cluster, "cp-3", "90s");
    await awaitCertificates(cluster, "cp-3", "a near end of the kubelet's", ({ ends }) =>
      ends.some(({ name, ends: end }) => name === "kubelet-client" && Date.parse(end) < Date.now() + 150_000),
    );
    await awaitNode(cluster, "cp-3", {
      what: "the Node whose kubelet can't report any more",
      seconds: 300,
      decide: ({ status }) => {
        const condition = status?.conditions?.find(({ type }) => type === "Ready");
        return condition?.status === "Unknown" ? undefined : condition?.status;
      },
    });
    // before its end, the kubelet would renew it itself
    const awaitEnd = `timeout 120 bash -c 'while openssl x509 -checkend 0 -noout -in ${KUBELET}; do sleep 1; done'`;
    await cluster.onMachine("cp-3", `${awaitEnd}; systemctl start kubelet || true`, 150);
    assert.deepEqual(await rollout(), [
      `cp-3: the certificate of its kubelet ended on ${dayIn(0)}: sign a new one, restart the kubelet, wait until Ready`,
    ]);
    await cluster.up();
    assert.deepEqual(await readyNodes(cluster), PLANES);
    const end = await endOnMachine(cluster, "cp-3", KUBELET);
    assert.ok(end.getTime() > Date.now() + 300 * DAY, end.toISOString());
    assert.deepEqual((await cluster.preview()).changes, []);
  });
});
