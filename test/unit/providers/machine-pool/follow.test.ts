import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "mocha";
import { KubernetesClient } from "../../../../lib/kubernetes";
import { followPool } from "../../../../providers/machine-pool/resources/follow";
import type { PoolInputs } from "../../../../providers/machine-pool/resources/machine-pool-ready";
import { PoolSession } from "../../../../providers/machine-pool/resources/pool-session";
import { type Certificate, TestAuthority } from "../../../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../../../support/kubernetes-server";

type Fields = Record<string, unknown>;

const CLUSTER_API = "cluster.x-k8s.io/v1beta1";
const SANDBOX = "infrastructure.example.org/v1";
const POOL = `/apis/${CLUSTER_API}/namespaces/demo/machinepools/pool-a`;
const INFRASTRUCTURE = `/apis/${SANDBOX}/namespaces/demo/samplepools/pool-a`;
const BOOTSTRAP = `/apis/${SANDBOX}/namespaces/demo/sampleconfigs/pool-a`;

describe("following a MachinePool", () => {
  const folder = mkdtempSync(join(tmpdir(), "foresail-follow-"));
  const authority = new TestAuthority(folder);
  let certificate: Certificate;
  let server: TestKubernetesServer;
  let client: KubernetesClient;

  before(() => {
    certificate = authority.issue("server", "/CN=server", ["IP:127.0.0.1"]);
  });
  beforeEach(async () => {
    server = await new TestKubernetesServer(certificate).listen();
    server.store.put("/api", {});
    const kinds = (apiVersion: string, ...names: [kind: string, plural: string][]) => {
      const resources = names.map(([kind, name]) => ({ kind, name, namespaced: true }));
      server.store.put(`/apis/${apiVersion}`, { resources });
    };
    kinds(CLUSTER_API, ["MachinePool", "machinepools"], ["Cluster", "clusters"]);
    kinds(SANDBOX, ["SamplePool", "samplepools"], ["SampleConfig", "sampleconfigs"]);
    const access = { kubeconfig: kubeconfigOf(authority, [server]) };
    client = await KubernetesClient.connect(access, { seconds: 5, authorizedPath: "/api" });
  });
  afterEach(async () => {
    client.close();
    await server.close();
  });
  after(() => rmSync(folder, { recursive: true }));

  const owner = {
    apiVersion: CLUSTER_API,
    kind: "MachinePool",
    name: "pool-a",
    uid: "pool-uid",
    controller: true,
  };
  const put = (path: string, object: object) => server.store.put(path, object as Fields);
  /** Writes the pool as its controller does. @param ready of its one machine and node */
  function pool(status: Fields, ready = 1, spec: Fields = {}): void {
    const refs = { apiVersion: SANDBOX, name: "pool-a" };
    put(POOL, {
      apiVersion: CLUSTER_API,
      kind: "MachinePool",
      metadata: {
        name: "pool-a",
        namespace: "demo",
        uid: "pool-uid",
        ownerReferences: [{ apiVersion: CLUSTER_API, kind: "Cluster", name: "demo" }],
      },
      spec: {
        replicas: 1,
        providerIDList: ready ? ["x://0"] : [],
        template: {
          spec: {
            bootstrap: { configRef: { ...refs, kind: "SampleConfig" } },
            infrastructureRef: { ...refs, kind: "SamplePool" },
          },
        },
        ...spec,
      },
      status: {
        bootstrapReady: true,
        infrastructureReady: true,
        replicas: ready,
        readyReplicas: ready,
        nodeRefs: ready ? [{ name: "n-0" }] : [],
        ...status,
      },
    });
  }
  const beside = (
    path: string,
    kind: string,
    status: Fields = {},
    references: object[] = [owner],
    generation = 1,
  ) =>
    put(path, {
      apiVersion: SANDBOX,
      kind,
      metadata: { name: "pool-a", namespace: "demo", generation, ownerReferences: references },
      status,
    });
  const config = (references?: object[]) => beside(BOOTSTRAP, "SampleConfig", {}, references);
  const machines = (status?: Fields, references?: object[], generation?: number) =>
    beside(INFRASTRUCTURE, "SamplePool", status, references, generation);
  const node = (ready = "True") =>
    put("/api/v1/nodes/n-0", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n-0" },
      spec: { providerID: "x://0" },
      status: { conditions: [{ type: "Ready", status: ready, reason: "Told" }] },
    });

  /** Follows the pool. @param reacts called with each line; changes the cluster */
  async function follow(
    reacts: (line: string) => void = () => undefined,
    timeouts: Partial<PoolInputs["timeouts"]> = {},
  ) {
    const said: string[] = [];
    const kubeconfig = kubeconfigOf(authority, [server]);
    const inputs: PoolInputs = {
      kubeconfig,
      workloadKubeconfig: kubeconfig,
      stack: "demo/test",
      apiVersion: CLUSTER_API,
      namespace: "demo",
      name: "pool-a",
      cluster: "demo",
      replicas: 1,
      template: { infrastructure: "SamplePool pool-a", rest: {} },
      timeouts: { bootstrap: 5, infrastructure: 5, nodes: 5, ...timeouts },
    };
    const progress = (line: string) => {
      said.push(line);
      setImmediate(() => reacts(line));
    };
    const { signal } = new AbortController();
    const work = { kubernetes: client, signal, progress };
    const followed = await PoolSession.run(inputs, work, (session) =>
      followPool(session, inputs, { signal, progress }),
    );
    return { said, nodes: followed.nodes.map(({ name }) => name) };
  }
  const failure = async (...args: Parameters<typeof follow>): Promise<string> => {
    const began = Date.now();
    const error: unknown = await follow(...args).then(
      () => assert.fail("it ended well"),
      (error: unknown) => error,
    );
    assert.ok(Date.now() - began < 4000, "it waited for a deadline");
    return (error as Error).message;
  };

  it("goes through the stages and reports each transition once", async () => {
    pool({ bootstrapReady: false, infrastructureReady: false, phase: "Pending" }, 0);
    config([]);
    machines({}, []);
    const { said, nodes } = await follow((line) => {
      if (line.includes("waits for the pool to become the owner of SampleConfig")) config();
      if (line.includes("waits for bootstrap data"))
        pool({ infrastructureReady: false, phase: "Provisioning" }, 0);
      if (line.includes("waits for the pool to become the owner of SamplePool")) machines();
      if (line.includes("waits for its infrastructure")) pool({ phase: "ScalingUp" }, 0);
      if (line.includes("1 machines, there are 0")) pool({ phase: "Running" });
      if (line.includes("last saw no node has registered")) node("False");
      if (line.includes("last saw node n-0 is not Ready (Ready is False, Told)")) node();
    });
    assert.deepEqual(nodes, ["n-0"]);
    assert.deepEqual(
      said.filter((line) => !line.startsWith("waiting for")),
      [
        "its Cluster has become its owner",
        "phase Pending",
        "the pool has become the owner of SampleConfig pool-a",
        "bootstrap is ready",
        "phase Provisioning",
        "the pool has become the owner of SamplePool pool-a",
        "infrastructure is ready",
        "phase ScalingUp",
        "0 of 1 replicas: 0 ready, 0 available, 0 unavailable",
        "phase Running",
        "1 of 1 replicas: 1 ready, 0 available, 1 unavailable",
      ],
    );
  });

  it("fails at once when the infrastructure fails, although the pool reports nothing", async () => {
    pool({}, 0);
    config();
    machines();
    const failed = () => machines({ failureReason: "CreateError", failureMessage: "no flavor" });
    assert.match(
      await failure((line) => line.includes("there are 0") && failed()),
      /given it up: SamplePool pool-a: CreateError: no flavor/,
    );
  });

  it("fails at once when an object that it refers to belongs to another pool", async () => {
    pool({ bootstrapReady: false }, 0);
    config([{ ...owner, name: "pool-b", uid: "other-uid" }]);
    assert.match(
      await failure(),
      /MachinePool demo\/pool-a: SampleConfig pool-a belongs to MachinePool pool-b, and Cluster API does not take it/,
    );
  });

  it("names the stage and what blocks it at the deadline of the stage", async () => {
    pool({}, 1);
    config();
    machines();
    node("Unknown");
    assert.match(
      await failure(undefined, { nodes: 0.3 }),
      /waited 0\.\d+ s for MachinePool demo\/pool-a \(nodes\); last seen: node n-0 is not Ready \(Ready is Unknown, Told\)/,
    );
  });

  it("says that the Cluster was paused during the wait", async () => {
    pool({}, 0);
    const paused = { kind: "Cluster", metadata: { name: "demo" }, spec: { paused: true } };
    const cluster = `/apis/${CLUSTER_API}/namespaces/demo/clusters/demo`;
    assert.match(
      await failure((line) => void (line.includes("there are 0") && put(cluster, paused)), {
        infrastructure: 0.3,
      }),
      /paused by spec\.paused of its Cluster; phase none yet, waits for 1 machines, there are 0/,
    );
  });

  it("waits until the infrastructure has its new machines, and then reads the pool again", async () => {
    pool({}, 1);
    config();
    node();
    machines({ observedGeneration: 1 }, [owner], 2);
    let isSettled = false;
    const { said } = await follow((line) => {
      if (!line.includes("SamplePool pool-a: its controller has not seen the change yet")) return;
      isSettled = true;
      machines({ observedGeneration: 2 }, [owner], 2);
    });
    assert.ok(isSettled, said.join("\n"));
    assert.equal(server.calls.filter((call) => call === `GET ${POOL}`).length, 2);
  });

  it("ends when the pool is deleted, and when its right to watch is missing", async () => {
    pool({}, 0);
    assert.match(
      await failure((line) => line.includes("there are 0") && server.store.remove(POOL)),
      /there is no MachinePool demo\/pool-a: it was deleted outside of foresail/,
    );
    pool({}, 0);
    server.intercept = (call) =>
      call === `GET ${POOL.replace("/pool-a", "")}`
        ? { status: 403, reason: "Forbidden", message: "no" }
        : undefined;
    assert.match(await failure(), /403 Forbidden: no/);
  });
});
