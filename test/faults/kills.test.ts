import assert from "node:assert/strict";
import type { ProcessFacts } from "../../lib/process/identity";
import { waitFor } from "../../lib/wait";
import { etcdAt } from "../cluster/etcd";
import { killUpAt, stillRunning, type KillPoint } from "../cluster/killed-engine";
import { readyNodes } from "../cluster/reachability";
import { overlaps, stepRuns } from "../cluster/step-logs";
import { TestCluster } from "../cluster/test-cluster";
import { traces } from "../cluster/traces";

const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";
/** Another seed kills other processes at the same steps. */
const SEED = Number(process.env.FORESAIL_TEST_SEED ?? "1");
/** How long a provider may continue the step that it was in when its engine died. */
const ORPHAN_SECONDS = 120;

/** One desired state, and the steps towards it at which `up` is killed, one kill after another. */
interface Stage {
  readonly title: string;
  readonly machines: readonly string[];
  readonly steps: readonly (readonly [machine: string, operation: string])[];
}

const FIRST: Stage = {
  title: "a first cluster of 1+1",
  machines: ["cp-1", "w-1"],
  steps: [
    ["w-1", "prepare"],
    ["cp-1", "init"],
    ["w-1", "join-worker"],
  ],
};

const EVERY_STEP: readonly Stage[] = [
  {
    ...FIRST,
    steps: [
      ["w-1", "prepare"],
      ["cp-1", "facts"],
      ["cp-1", "init"],
      ["cp-1", "admin-kubeconfig"],
      ["w-1", "facts"],
      ["w-1", "join-worker"],
    ],
  },
  {
    title: "two more control planes",
    machines: ["cp-1", "cp-2", "cp-3", "w-1"],
    steps: [
      ["cp-2", "prepare"],
      ["cp-1", "control-plane-secrets"],
      ["cp-2", "join-control-plane"],
      ["cp-3", "join-control-plane"],
      ["w-1", "endpoint"],
    ],
  },
  {
    title: "one control plane less, which is replaced",
    machines: ["cp-1", "cp-2", "cp-4", "w-1"],
    steps: [
      ["cp-3", "leave-control-plane"],
      ["cp-1", "etcd-remove"],
      ["cp-3", "reset"],
    ],
  },
];

/** Which of the two kills each step gets: alternating, and the other way round with the next seed. */
const victimsOf = (index: number, seed: number): KillPoint["victims"] =>
  (index + seed) % 2 === 0 ? "engine" : "all";

const words = { engine: "pulumi alone", all: "pulumi and all that it started" };

for (const seed of ALL_TESTS ? [SEED, SEED + 1] : [SEED])
  describe(`kills on real nodes, seed ${seed}`, function () {
    this.timeout(600_000);
    let cluster: TestCluster;
    const orphans: ProcessFacts[] = [];

    before(async () => {
      cluster = await TestCluster.open("faults");
    });

    after(() => cluster.remove());

    let configured: readonly string[] = [];
    for (const { title, machines, steps } of ALL_TESTS ? EVERY_STEP : [FIRST]) {
      describe(title, () => {
        before(async () => {
          await cluster.configure({ machines });
          configured = [...new Set([...configured, ...machines])];
        });

        for (const [index, [machine, operation]] of steps.entries()) {
          const victims = victimsOf(index, seed);
          it(`${words[victims]}, at ${operation} of ${machine}: the lock is cleared for the next \`up\``, async () => {
            const started = await killUpAt(cluster, { machine, operation, victims });
            orphans.push(...started);
            await cluster.reopen();
            assert.match(cluster.output, /cleared the lock/);
            if (victims === "all") assert.deepEqual(stillRunning(started), []);
          });
        }

        it("and the next `up` ends with the cluster that was wanted", async () => {
          await cluster.up();
          assert.deepEqual(await readyNodes(cluster), [...machines].sort());
          const controlPlanes = machines.filter((name) => name.startsWith("cp-"));
          assert.deepEqual(await etcdAt(cluster, controlPlanes[0]!), {
            members: controlPlanes,
            healthy: true,
          });
          assert.deepEqual((await cluster.preview()).changes, []);
          for (const name of configured.filter((each) => !machines.includes(each)))
            assert.deepEqual(await traces(cluster, name), [], name);
        });

        it("no step ran twice at once, and none that adds a member ran twice", async () => {
          const runs = await stepRuns(cluster, configured);
          assert.deepEqual(overlaps(runs), []);
          const made = await cluster.onMachine(
            "cp-1",
            "grep -c 'Your Kubernetes control-plane has initialized' /var/log/foresail/init.log",
          );
          assert.equal(made.trim(), "1");
          for (const name of configured.filter((each) => each !== "cp-1")) {
            const joined = await cluster.onMachine(
              name,
              "cat /var/log/foresail/join-*.log | grep -c 'This node has joined the cluster'",
            );
            assert.equal(joined.trim(), "1", name);
          }
        });
      });
    }

    // in a suite of its own: mocha runs the tests of a suite before those of suites in it
    describe("at the end", () => {
      it("no process of a killed engine continues", async () => {
        await waitFor({
          what: "the providers of killed engines to end",
          seconds: ORPHAN_SECONDS,
          probe: () => {
            assert.ok(orphans.length > 0);
            // Pulumi's language host looks for its engine every five minutes and ends then; it touches no machine
            const left = stillRunning(orphans).filter(
              ({ command }) => !command.startsWith("pulumi-language"),
            );
            return Promise.resolve(
              left.length === 0
                ? { done: undefined }
                : { pending: left.map(({ command }) => command).join(", ") },
            );
          },
        });
      });
    });
  });
