import assert from "node:assert/strict";
import { kubeconfigOf, TestKubernetesServer } from "../support/kubernetes-server";
import { newKey, TestSshServer } from "../support/ssh-server";
import { exampleMachine, exampleSpecification } from "../unit/providers/kubeadm/machine/examples";
import { common, controlPlanes, machines, SAMPLES } from "./handler-samples";
import { UNKNOWN } from "../../lib/unknown";
import { type ProviderHost, type Refusal } from "./provider-host";
import { ServedHost } from "./served-host";

describe("decisions of the handlers, in Pulumi's own process", function () {
  this.timeout(60_000);
  const served = new ServedHost();
  const { authority, server } = served;
  let host: ProviderHost;
  before(() => {
    host = served.host;
  });

  const propertiesOf = (refusals: Refusal[]) => refusals.map(({ property }) => property);

  describe("ClusterInit", () => {
    const olds = SAMPLES["kubeadm/ClusterInit"];

    it("remembers machines that left, to ask them at a destroy, unless the stack makes and deletes them", async () => {
      const [staying, left] = [machines.slice(0, 3), machines.slice(3)];
      const update = async (over: object) =>
        (
          await host.update(
            "kubeadm/ClusterInit",
            { ...olds, ...over },
            { ...olds, ...over, machines: staying },
          )
        )["former"];
      assert.deepEqual(await update({}), left);
      assert.deepEqual(await update({ provided: true }), []);
    });

    const specified = (over: Parameters<typeof exampleSpecification>[0]) => ({
      ...olds,
      specification: exampleSpecification(over),
    });
    const network = exampleSpecification().network;
    const refused: [string, Parameters<typeof exampleSpecification>[0]][] = [
      ["cluster.name", { name: "other" }],
      ["cluster.endpoint", { endpoint: { external: { host: "k8s.example.org", port: 6443 } } }],
      ["cluster.endpoint", { endpoint: { loopback: { port: 9443 } } }],
      ["cluster.network.podSubnet", { network: { ...network, podCidr: "10.200.0.0/16" } }],
      ["cluster.network.serviceSubnet", { network: { ...network, serviceCidr: "10.97.0.0/16" } }],
      ["cluster.network.dnsDomain", { network: { ...network, dnsDomain: "corp.local" } }],
      ["cluster.network.plugin", { network: { ...network, bridge: false } }],
      ["cluster.encryptSecretsAtRest", { encryptSecretsAtRest: false }],
      ["cluster.kubelet.cgroupDriver", { kubelet: { cgroupDriver: "cgroupfs" } }],
    ];
    for (const [property, change] of refused)
      it(`refuses ${JSON.stringify(change)} for a cluster that exists`, async () => {
        const { refusals } = await host.check("kubeadm/ClusterInit", olds, specified(change));
        assert.deepEqual(propertiesOf(refusals), [property]);
        assert.match(refusals[0]!.reason, /: .*(set it back|put the old value back)/);
      });

    it("lists a changed configuration, and what is written for it before it reaches a node", async () => {
      const change = { kubelet: { maxPods: 50 }, kubeProxy: { mode: "nftables" } };
      const { inputs, refusals } = await host.check("kubeadm/ClusterInit", olds, specified(change));
      assert.deepEqual(refusals, []);
      assert.deepEqual(inputs.steps, [
        "configuration: cluster.kubelet.maxPods, cluster.kubeProxy.mode; each node gets it from its rollout",
        "cluster: write kubeadm-config and kubelet-config",
        "cluster: write the configuration of kube-proxy, and restart it on each node in turn",
      ]);
    });

    it("leaves a version change to the rollout", async () => {
      const { refusals } = await host.check("kubeadm/ClusterInit", olds, specified({ version: "1.36.4" }));
      assert.deepEqual(refusals, []);
    });

    it("names at once everything that can't change", async () => {
      const change = { encryptSecretsAtRest: false, name: "other" };
      const { refusals } = await host.check("kubeadm/ClusterInit", olds, specified(change));
      assert.deepEqual(propertiesOf(refusals), ["cluster.name", "cluster.encryptSecretsAtRest"]);
    });

    it("accepts a first preview whose specification is unknown", async () => {
      const news = { ...olds, specification: UNKNOWN, machines: UNKNOWN };
      const { inputs, refusals } = await host.check("kubeadm/ClusterInit", {}, news);
      assert.deepEqual(refusals, []);
      assert.deepEqual(inputs.steps, [
        "the first control plane: kubeadm init, unless a control plane is a member already",
      ]);
    });

    it("has its one step on the first control plane, and none on a cluster that exists", async () => {
      const first = await host.check("kubeadm/ClusterInit", {}, olds);
      assert.deepEqual(first.inputs.steps, [
        "cp-1: kubeadm init, unless a control plane is a member already; Kubernetes 1.36.3 with etcd 3.6.8-0, CoreDNS v1.14.2, pause 3.10.2",
      ]);
      const second = await host.check("kubeadm/ClusterInit", olds, olds);
      assert.deepEqual(second.inputs.steps, []);
    });

    for (const [what, change, changes] of [
      ["nothing", {}, false],
      ["timeouts", { timeouts: { ...common.timeouts, init: 9 } }, false],
      ["credentials", { credentials: { privateKey: "other" } }, true],
      ["the version", { specification: exampleSpecification({ version: "1.36.4" }) }, true],
      ["machines", { machines: machines.slice(0, 3) }, true],
    ] as const)
      it(`records a change of ${what}: ${changes}`, async () => {
        const diff = await host.diff("kubeadm/ClusterInit", olds, { ...olds, ...change });
        assert.deepEqual(diff, { changes, replaces: [] });
      });
  });

  describe("NodeGroup", () => {
    const group = (name: string, members: typeof machines, over: object = {}) => ({
      ...common,
      group: name,
      machines: members,
      controlPlanes,
      lost: [],
      drain: { timeoutSeconds: 1, deleteEmptyDirData: false, force: false },
      kubeconfig: served.kubeconfig,
      preparations: Object.fromEntries(members.map(({ name }) => [name, "done"])),
      ...over,
    });
    const workers = ["w-1", "w-2"].map((name) => exampleMachine(name));
    const putNodes = (nodes: typeof machines) => {
      server.store.objects.clear();
      for (const { name, group: label, role } of nodes)
        server.store.put(`/api/v1/nodes/${name}`, {
          apiVersion: "v1",
          kind: "Node",
          metadata: {
            name,
            labels: {
              "foresail/group": label,
              [`node-role.kubernetes.io/${role === "worker" ? label : role}`]: "",
            },
          },
          status: { conditions: [{ type: "Ready", status: "True" }] },
        });
    };
    const key = "kubeadm/NodeGroup";
    const joinSteps = [
      "w-2: join as worker of workers, wait until Ready",
      "cluster DNS: move its pods apart if all of them are on one node",
    ];

    it("plans from the live cluster", async () => {
      putNodes([...controlPlanes, workers[0]!]);
      const olds = group("workers", workers.slice(0, 1));
      const join = await host.check(key, olds, group("workers", workers));
      assert.deepEqual(join.inputs.steps, joinSteps);
      const remove = await host.check(key, olds, group("workers", []));
      assert.deepEqual(remove.inputs.steps, ["w-1: cordon, drain, kubeadm reset, delete its Node"]);
      const lost = await host.check(key, olds, group("workers", [], { lost: ["w-1"] }));
      assert.deepEqual(lost.inputs.steps, ["w-1: lost, delete its Node"]);
    });

    it("has no step while nothing changes", async () => {
      putNodes([...controlPlanes, ...workers]);
      const olds = group("workers", workers);
      const { inputs, refusals } = await host.check(key, olds, olds);
      assert.deepEqual([inputs.steps, refusals], [[], []]);
      assert.deepEqual(await host.diff(key, olds, inputs), { changes: false, replaces: [] });
    });

    it("has unknown steps as long as the cluster or a machine is unknown", async () => {
      const first = await host.check(key, {}, group("workers", workers, { kubeconfig: UNKNOWN }));
      assert.deepEqual(first.inputs.steps, ["unknown until the cluster exists; wanted: w-1, w-2"]);
      const unmade = group("workers", [], { machines: UNKNOWN });
      const second = await host.check(key, {}, unmade);
      assert.deepEqual([second.inputs.steps, second.refusals], [["unknown until the machines exist"], []]);
    });

    it("plans with the recorded kubeconfig while a new one will be read", async () => {
      putNodes([...controlPlanes, workers[0]!]);
      const olds = group("workers", workers.slice(0, 1));
      const { inputs } = await host.check(key, olds, group("workers", workers, { kubeconfig: UNKNOWN }));
      assert.deepEqual(inputs.steps, joinSteps);
    });

    it("plans from the recorded state when no API server answers, and says so first", async () => {
      const gone = new TestKubernetesServer(authority.issue("gone", "/CN=gone", ["IP:127.0.0.1"]));
      await gone.listen();
      const kubeconfig = kubeconfigOf(authority, [gone]);
      await gone.close();
      const olds = group("workers", workers.slice(0, 1), { kubeconfig });
      const { inputs } = await host.check(key, olds, group("workers", workers, { kubeconfig }));
      const [first, ...others] = inputs.steps as string[];
      assert.match(first!, /^from the recorded state, since the cluster could not be read: /);
      assert.deepEqual(others, [...joinSteps, "w-1: unread: its membership, labels and taints"]);
    });

    it("refuses the removal of a majority, and accepts that of a minority", async () => {
      putNodes([...controlPlanes, ...workers]);
      const olds = group("control-plane", controlPlanes);
      const two = await host.check(key, olds, group("control-plane", controlPlanes.slice(2)));
      assert.deepEqual(propertiesOf(two.refusals), ["machines"]);
      assert.match(
        two.refusals[0]!.reason,
        /a majority of the 3 control planes; take out at most 1 in one run/,
      );
      const one = await host.check(key, olds, group("control-plane", controlPlanes.slice(1)));
      assert.deepEqual(one.refusals, []);
      assert.deepEqual(one.inputs.steps, [
        "cp-1: cordon, drain, remove its etcd member, kubeadm reset, delete its Node",
      ]);
    });

    it("refuses to move a Node from one pool to another in one run", async () => {
      putNodes([...controlPlanes, ...workers]);
      const moved = [exampleMachine("w-1", { group: "gpu" })];
      const { refusals } = await host.check(key, {}, group("gpu", moved));
      assert.match(refusals[0]!.reason, /w-1 \(in workers\) can't move to gpu in one run/);
    });

    it("refuses another joinConfiguration once a machine of the group has joined", async () => {
      const kubeadm = { joinConfiguration: { skipPhases: ["preflight"] } };
      const olds = group("workers", workers);
      const news = { ...olds, specification: exampleSpecification({ kubeadm }) };
      putNodes([...controlPlanes, workers[0]!]);
      assert.deepEqual(propertiesOf((await host.check(key, olds, news)).refusals), [
        "cluster.kubeadm.joinConfiguration.skipPhases",
      ]);
      putNodes(controlPlanes);
      assert.deepEqual((await host.check(key, olds, news)).refusals, []);
    });

    it("refuses another internal address of a Node", async () => {
      putNodes([...controlPlanes, ...workers]);
      const moved = workers.map((machine) => ({
        ...machine,
        internalAddress: `${machine.internalAddress}9`,
      }));
      const { refusals } = await host.check(key, group("workers", workers), group("workers", moved));
      assert.deepEqual(propertiesOf(refusals), [
        "machines[0].internalAddress",
        "machines[1].internalAddress",
      ]);
    });

    const jumpHost = { address: "192.0.2.1", port: 22, user: "jump", hostKey: "ssh-ed25519 AAAA" };
    for (const [what, change] of [
      ["the SSH key", { credentials: { privateKey: "other" } }],
      ["the SSH port", { machines: workers.map((machine) => ({ ...machine, port: 2222 })) }],
      ["the address", { machines: workers.map((machine) => ({ ...machine, address: "192.0.2.250" })) }],
      ["the jump host", { jumpHost }],
      ["the version", { specification: exampleSpecification({ version: "1.36.4" }) }],
    ] as const)
      it(`records a change of ${what} without a step`, async () => {
        putNodes([...controlPlanes, ...workers]);
        const olds = group("workers", workers);
        const { inputs, refusals } = await host.check(key, olds, { ...olds, ...change });
        assert.deepEqual([inputs.steps, refusals], [[], []]);
        assert.deepEqual(await host.diff(key, olds, inputs), { changes: true, replaces: [] });
      });
  });

  describe("AdminKubeconfig", () => {
    const key = "kubeadm/AdminKubeconfig";
    const { certificate } = authority.issue("admin", "/CN=admin");
    const admin = {
      certificateAuthority: "",
      clientCertificate: Buffer.from(certificate).toString("base64"),
      clientKey: "",
    };
    const answering = (name: string) =>
      exampleMachine(name, { apiServer: `127.0.0.1:${String(server.port)}` });
    const silent = (name: string) => exampleMachine(name, { apiServer: "127.0.0.1:1" });

    it("changes only when the named control plane does not answer and another one does", async () => {
      const diff = async (news: object[], healthy = "cp-1") =>
        (await host.diff(key, { ...common, machines: [], admin, healthy }, { ...common, machines: news }))
          .changes;
      assert.equal(await diff([answering("cp-1"), silent("cp-2")]), false);
      assert.equal(await diff([silent("cp-1"), answering("cp-2")]), true);
      assert.equal(await diff([silent("cp-2"), answering("cp-3")]), true);
      assert.equal(await diff([silent("cp-1"), silent("cp-2")]), false);
    });

    it("stays as it is when the named control plane leaves, so that no preview is unknown for it", async () => {
      const olds = { ...common, machines: [], admin, healthy: "cp-1" };
      const news = { ...common, machines: [answering("cp-2"), answering("cp-3")] };
      assert.deepEqual(await host.diff(key, olds, news), { changes: false, replaces: [] });
    });

    it("is read again a month before its certificate expires", async () => {
      const short = authority.issue("short", "/CN=short", [], 20);
      const clientCertificate = Buffer.from(short.certificate).toString("base64");
      const olds = { ...common, machines: [], admin: { ...admin, clientCertificate }, healthy: "cp-1" };
      const { changes } = await host.diff(key, olds, { ...common, machines: [answering("cp-1")] });
      assert.equal(changes, true);
    });
  });

  describe("HostKey", () => {
    const key = "kubeadm/HostKey";
    const olds = { machine: "w-1", address: "192.0.2.1", port: 22, credentials: {}, timeoutSeconds: 5 };

    it("is kept for another address, port or key, and read again for another machine", async () => {
      const same = { ...olds, address: "192.0.2.9", port: 2222, credentials: { privateKey: "x" } };
      assert.deepEqual(await host.diff(key, olds, same), { changes: false, replaces: [] });
      const other = await host.diff(key, olds, { ...olds, machine: "w-2" });
      assert.deepEqual(other, { changes: true, replaces: ["machine"] });
    });

    it("reads the key at first contact", async () => {
      const machine = new TestSshServer();
      await machine.listen();
      try {
        const credentials = { privateKey: newKey().private };
        const { outputs } = await host.create(key, {
          ...olds,
          address: "127.0.0.1",
          port: machine.port,
          credentials,
        });
        assert.equal(outputs.hostKey, machine.hostKey.public);
      } finally {
        await machine.close();
      }
    });

    it("names the machine and the phase when nothing answers", async () => {
      const closed = { ...olds, address: "127.0.0.1", port: 1, timeoutSeconds: 1 };
      await assert.rejects(host.create(key, closed), /HostKey w-1: first contact over SSH failed/);
    });
  });
});
