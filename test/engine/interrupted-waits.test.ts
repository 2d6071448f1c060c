import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CLUSTER_LEASE } from "../../lib/kubernetes/own-objects";
import { readHolder } from "../../lib/kubernetes/lease-holder";
import type { LeaseObject } from "../../lib/kubernetes";
import { readProcess } from "../../lib/process/identity";
import { GROUP_LABEL } from "../../providers/kubeadm/plan/membership/nodes";
import { obeyAnnotations } from "../simulation/simulated-agents";
import { descendants, untilEnded } from "../support/process-tree";
import { type DesiredMachine, desiredCluster } from "./desired-cluster";
import { PlanCluster } from "./plan-cluster";
import { simulatedFixture } from "./simulated-fixture";

/** Within this time an interrupted run has ended. */
const END_MILLISECONDS = 5_000;
/** What a second interrupt leaves of it. */
const AT_ONCE_MILLISECONDS = 1_500;
const BEGIN_MILLISECONDS = 40_000;

/** The machines of the last tests. */
const LAST = ["cp-1", "w-1", "w-2", "w-4", "w-5"];
const PATCH = "1.36.4";

/** Something for which an `up` waits in vain. */
interface Wait {
  readonly what: string;
  /** Sets it up: what is configured, and what is missing. */
  readonly begin: () => Promise<void> | void;
  /** What `up` prints when it waits for it; a function looks elsewhere. */
  readonly isWaiting: RegExp | (() => boolean);
  /** What the interrupted run says of it. */
  readonly says: RegExp;
  /** Ends it, so that the next `up` can continue. */
  readonly end?: () => Promise<unknown> | void;
}

describe("an interrupt of pulumi up while it waits", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1", "w-2", "w-3", "w-4", "w-5"] });
  const timeouts = {
    sshSeconds: 120,
    prepareSeconds: 120,
    initSeconds: 120,
    joinSeconds: 120,
    readySeconds: 120,
  };
  const want = (machines: (string | DesiredMachine)[], others: Record<string, unknown> = {}) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines, { timeouts, ...others }) });
  const node = (name: string) => ({ apiVersion: "v1", kind: "Node", name });

  /** A step of a machine that takes a while. */
  function hang(operation: "init" | "prepare" | "join-worker", machine: string): () => boolean {
    const from = fixture.fleet.files.journalLines.length;
    fixture.fleet.inject({ operation, machine, kind: "hang", milliseconds: 9_000 });
    return () =>
      fixture.fleet.files.journalLines
        .slice(from)
        .some((line) => line.operation === operation && line.machine === machine && line.event === "start");
  }
  let hasStarted = () => false;
  const ready = (name: string, status: "True" | "Unknown") =>
    fixture.kubernetes.mergePatch(
      node(name),
      { status: { conditions: [{ type: "Ready", status, reason: "Simulated" }] } },
      { subresource: "status" },
    );
  const ofShop = (kind: string, apiVersion: string, name: string) => ({
    apiVersion,
    kind,
    namespace: "shop",
    name,
  });

  const stop = new AbortController();
  let agents: Promise<void> | undefined;
  after(async () => {
    stop.abort();
    await agents;
  });

  const waits: Wait[] = [
    {
      what: "the first control plane's kubeadm init",
      begin: () => {
        want(["cp-1", "w-1"]);
        hasStarted = hang("init", "cp-1");
      },
      isWaiting: () => hasStarted(),
      says: /while `init cp-1` ran; what has begun on cp-1 goes on there to its end, and the next run waits for it/,
    },
    {
      what: "the preparation of a machine",
      begin: () => {
        want(["cp-1", "w-1", "w-2"]);
        hasStarted = hang("prepare", "w-2");
      },
      isWaiting: () => hasStarted(),
      says: /test-w-2-prepare/,
    },
    {
      what: "a join",
      begin: () => {
        want(["cp-1", "w-1", "w-2", "w-3"]);
        hasStarted = hang("join-worker", "w-3");
      },
      isWaiting: () => hasStarted(),
      says: /while `join-worker w-3` ran; what has begun on w-3 goes on/,
    },
    {
      what: "a Node to be Ready",
      begin: async () => {
        await fixture.kubernetes.mergePatch(node("w-3"), { metadata: { labels: { [GROUP_LABEL]: null } } });
        await ready("w-3", "Unknown");
      },
      isWaiting: /waiting for Node w-3 to be Ready/,
      says: /interrupted while it waited for Node w-3 to be Ready; last seen: Simulated/,
      end: () => ready("w-3", "True"),
    },
    {
      what: "SSH on a machine",
      // another version is staged on each machine
      begin: () => want(["cp-1", "w-1", "w-2", { name: "w-3", port: 1 }], { version: PATCH }),
      isWaiting: /waiting for SSH on w-3[^\n]*connection refused, 1\d\d s left/,
      says: /interrupted while it waited for SSH on w-3/,
      end: () => want(["cp-1", "w-1", "w-2", "w-3"]),
    },
    {
      what: "a drain that a budget blocks",
      begin: async () => {
        const cluster = new PlanCluster(fixture.kubernetes);
        await cluster.namespace("shop");
        await cluster.pod("a", "w-3", { owner: "ReplicaSet", app: "a" });
        await cluster.budget("a", "a");
        want(["cp-1", "w-1", "w-2"]);
      },
      isWaiting: /waiting for [^\n]*shop\/a/,
      says: /remove w-3 failed \(RunInterrupted\)[^]*shop\/a/,
      end: async () => {
        await fixture.kubernetes.delete(ofShop("PodDisruptionBudget", "policy/v1", "a"));
        await fixture.kubernetes.delete(ofShop("Pod", "v1", "a"), { gracePeriodSeconds: 0 });
      },
    },
    {
      what: "the Lease of another run",
      begin: async () => {
        await fixture.kubernetes.mergePatch(CLUSTER_LEASE, {
          spec: {
            holderIdentity: "ann@laptop",
            leaseDurationSeconds: 600,
            renewTime: new Date().toISOString().replace("Z", "000Z"),
          },
        });
        want(["cp-1", "w-1", "w-2", "w-4"]);
      },
      isWaiting: /waiting for the right to change the cluster[^\n]*ann@laptop/,
      says: /interrupted while it waited for the right to change the cluster[^\n]*ann@laptop/,
      end: () => fixture.kubernetes.mergePatch(CLUSTER_LEASE, { spec: { holderIdentity: null } }),
    },
    {
      what: "an API server",
      begin: () => {
        want(LAST);
        fixture.fleet.powerOff("cp-1");
      },
      isWaiting: /waiting for a healthy Kubernetes API[^\n]*1\d\d s left/,
      says: /interrupted while it waited for a healthy Kubernetes API/,
      end: () => {
        fixture.fleet.powerOn("cp-1");
      },
    },
    {
      what: "a node agent",
      begin: async () => {
        const metadata = { namespace: "kube-system", name: "kubeadm-config" };
        const data = { ClusterConfiguration: "kubernetesVersion: v1.36.3\n" };
        await fixture.kubernetes.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data });
        want(LAST, { version: PATCH });
      },
      isWaiting: /NodeRollout test: waiting for /,
      says: /NodeRollout test: [^]*interrupted while it waited for /,
      end: () => {
        agents = obeyAnnotations(fixture.kubernetes, [], { milliseconds: 100, signal: stop.signal });
      },
    },
  ];

  async function startUntil({ begin, isWaiting }: Wait) {
    await begin();
    const { child, output } = fixture.stack.startUp();
    const ended = once(child, "exit") as Promise<[number | null]>;
    const isSo = () => (typeof isWaiting === "function" ? isWaiting() : isWaiting.test(output()));
    for (const deadline = Date.now() + BEGIN_MILLISECONDS; !isSo(); await pause(20)) {
      assert.equal(child.exitCode, null, output());
      assert.ok(Date.now() < deadline, output());
    }
    return { child, output, ended, processes: descendants(readProcess(child.pid!)!.pid) };
  }

  async function assertNothingLeft(): Promise<void> {
    const locks = path.join(fixture.stack.stateFolder, ".pulumi", "locks");
    const left = existsSync(locks) ? readdirSync(locks, { recursive: true, encoding: "utf8" }) : [];
    assert.deepEqual(
      left.filter((file) => file.endsWith(".json")),
      [],
    );
    const pending = (await fixture.stack.export()).deployment.pending_operations ?? [];
    assert.deepEqual(pending, []);
    const holder = readHolder(await fixture.kubernetes.get<LeaseObject>(CLUSTER_LEASE));
    assert.ok(holder === undefined || holder.user === "ann@laptop", JSON.stringify(holder));
  }

  for (const wait of waits)
    it(`ends the wait for ${wait.what}, says so, and the next up continues`, async () => {
      const { child, output, ended, processes } = await startUntil(wait);
      const at = Date.now();
      // a terminal sends it to the whole group
      process.kill(-child.pid!, "SIGINT");
      const [exitCode] = await ended;
      const took = Date.now() - at;
      await untilEnded(processes, 2);
      assert.notEqual(exitCode, 0);
      assert.match(output(), wait.says);
      assert.ok(took < END_MILLISECONDS, `${took} ms\n${output()}`);
      await assertNothingLeft();
      await wait.end?.();
      await fixture.stack.up();
    });

  it("ends at once at the second interrupt, and leaves no lock", async () => {
    want([...LAST, "w-3"], { version: PATCH });
    const { child, ended } = await startUntil({
      ...waits[2]!,
      begin: () => void (hasStarted = hang("join-worker", "w-3")),
    });
    child.kill("SIGINT");
    await pause(300);
    const at = Date.now();
    child.kill("SIGINT");
    await ended;
    assert.ok(Date.now() - at < AT_ONCE_MILLISECONDS, `${Date.now() - at} ms`);
    const locks = path.join(fixture.stack.stateFolder, ".pulumi", "locks");
    assert.deepEqual(
      readdirSync(locks, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".json")),
      [],
    );
    await fixture.stack.up();
    assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
  });
});
