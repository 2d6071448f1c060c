import assert from "node:assert/strict";
import fc from "fast-check";
import type { KubernetesObject } from "../../lib/kubernetes";
import { nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";
import { annotationKeys } from "../../providers/kubeadm/plan/rollout/annotations";
import {
  type AdmissionRequest,
  linesOf,
  podOn,
  type RolloutWrite,
  writesOf,
} from "../simulation/rollout-writes";
import { RolloutFixture } from "./rollout-fixture";

/** How many clusters are rolled out: by default fifty, with `--all` a hundred, with `FORESAIL_SCENARIOS=1000` a thousand. */
const BY_DEFAULT = process.env.FORESAIL_TEST_ALL === "1" ? 100 : 50;
const SCENARIOS = Number(process.env.FORESAIL_SCENARIOS ?? BY_DEFAULT);
const SEED = Number(process.env.FORESAIL_SEED ?? 1);
const SECONDS_FOR_ONE = 30;
const KEYS = annotationKeys();
const NODES = "/api/v1/nodes/";

interface Scenario {
  planes: number;
  workers: number;
  /** old and new versions of the nodes, by the kind of change */
  way: { from: string; to: string; between: string[] };
  /** workers that have the new version already, or were cordoned before, by index */
  done: number[];
  cordoned: number[];
  paused: number[];
  maxUnavailable: number;
}

const index = fc.nat(4);
const scenarios: fc.Arbitrary<Scenario> = fc.record({
  planes: fc.constantFrom(1, 1, 3),
  workers: fc.integer({ min: 0, max: 4 }),
  way: fc.constantFrom(
    { from: "1.36.2", to: "1.36.3", between: [] },
    { from: "1.35.4", to: "1.36.3", between: [] },
    { from: "1.34.7", to: "1.36.3", between: ["1.35.4"] },
    // impossible: a lower minor
    { from: "1.36.3", to: "1.35.4", between: [] },
  ),
  done: fc.array(index, { maxLength: 1 }),
  cordoned: fc.array(index, { maxLength: 2 }),
  paused: fc.array(index, { maxLength: 1 }),
  maxUnavailable: fc.integer({ min: 1, max: 3 }),
});

/** Whether a line names a node that waits until a person uncordons another one. */
const waits = (line: string): boolean => nodeRolloutSteps.parse(line)?.kind === "cordoned";

describe("the truth of a rollout's preview, by the API server's log", function () {
  this.timeout(SCENARIOS * SECONDS_FOR_ONE * 1000);
  const fixture = new RolloutFixture();
  before(() => fixture.start());
  after(() => fixture.stop());

  /** What the log shows, request by request. */
  function observed(from: number): RolloutWrite[] {
    const last = new Map<string, KubernetesObject>();
    return fixture.server.store.log.flatMap(({ path, type, object }, at) => {
      const before = last.get(path);
      last.set(path, object);
      const name = path.split("/").at(-1)!;
      const request = (resource: string) =>
        ({
          uid: "",
          name,
          resource: { resource },
          object,
          oldObject: before ?? null,
        }) as unknown as AdmissionRequest;
      if (at < from || !before) return [];
      if (type === "DELETED") return path.includes("/pods/") ? writesOf(request("pods")) : [];
      if (path.startsWith(NODES)) return writesOf(request("nodes"));
      return path.endsWith("/configmaps/kubeadm-config") ? writesOf(request("configmaps")) : [];
    });
  }

  /** Schedules pods on a node when it is schedulable again, as a scheduler would. */
  function keepPods(names: string[]): () => void {
    const look = () => {
      for (const name of names) {
        const isOpen = fixture.node(name)?.metadata.annotations[KEYS.changesAllowed] === "true";
        const isThere = fixture.server.store.objects.has(`/api/v1/namespaces/web/pods/${podOn(name)}`);
        if (!isOpen && !isThere) fixture.putPod(podOn(name), name);
      }
    };
    look();
    fixture.server.store.listeners.add(look);
    return () => fixture.server.store.listeners.delete(look);
  }

  async function rollOut(scenario: Scenario): Promise<{ listed: string[]; seen: string[] }> {
    const { planes, workers, way, done, cordoned, paused, maxUnavailable } = scenario;
    const worker = (at: number) => `w-${at + 1}`;
    const names = [
      ...Array.from({ length: planes }, (_, at) => `cp-${at + 1}`),
      ...Array.from({ length: workers }, (_, at) => worker(at)),
    ];
    fixture.reset(names, way.from);
    // a kubelet is never newer than its API server, so nodes are ahead by patch versions only
    const isPatch = way.from.split(".")[1] === way.to.split(".")[1];
    for (let at = 0; at < workers; at += 1)
      fixture.putNode(worker(at), isPatch && done.includes(at) ? way.to : way.from, {
        ...(cordoned.includes(at) ? { unschedulable: true } : {}),
      });
    const stop = keepPods(names);
    try {
      const settings = { maxUnavailable, intermediateVersions: way.between, pausedNodes: paused.map(worker) };
      const olds = fixture.desired(way.from, settings);
      const news = fixture.desired(way.to, settings);
      const { inputs, refusals } = await fixture.check(olds, news);
      const from = fixture.server.store.log.length;
      const update = fixture.update(inputs, olds);
      // the engine stops after a refusal, and a handler that runs nevertheless may change nothing
      const steps = inputs.steps as string[];
      if (refusals.length > 0) await update.catch(() => undefined);
      else if (steps.some(waits)) await assert.rejects(update, /cordoned outside of this rollout/);
      else await update;
      return { listed: steps.filter((line) => !waits(line)), seen: linesOf(observed(from)) };
    } finally {
      stop();
    }
  }

  it(`lists exactly what is observed, in ${SCENARIOS} clusters drawn by seed ${SEED}`, async () => {
    let lines = 0;
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const { listed, seen } = await rollOut(scenario);
        lines += listed.length;
        assert.deepEqual(seen, listed);
      }),
      { numRuns: SCENARIOS, seed: SEED, endOnFailure: true },
    );
    assert.ok(lines > SCENARIOS, `only ${lines} steps in ${SCENARIOS} clusters`);
  });
});
