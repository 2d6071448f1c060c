import assert from "node:assert/strict";
import { annotationKeys } from "../../providers/kubeadm/plan/rollout/annotations";
import { awaitNode } from "./await-node";
import type { Desired, TestCluster } from "./test-cluster";

const REPORT = annotationKeys().current("drift");
/** An agent looks once a minute. */
const REPORT_SECONDS = 180;
const SCHEDULER = "/etc/kubernetes/manifests/kube-scheduler.yaml";
const SYSCTL = "/etc/sysctl.d/90-foresail.conf";
const SCHEDULER_ARGUMENTS = "tr '\\0' ' ' </proc/$(pidof kube-scheduler)/cmdline";

/** The manifest without the mark with which foresail restarts a static pod. */
const UNMARKED = `sed '/foresail\\/restarted-at/d; /^  annotations:$/d' ${SCHEDULER}`;

interface JsonReport {
  machines: { node: string; files: { path: string; difference: string; diff: string }[] }[];
}

/**
 * Edits a manifest and a file by hand, and checks that previews and `foresail drift` show both, that the file can be
 * accepted, and that a repair puts the manifest back and nothing else.
 */
export async function assertDriftIsRepaired(
  cluster: TestCluster,
  { machines, fields = {} }: Desired,
  { controlPlane, worker }: { controlPlane: string; worker: string },
): Promise<void> {
  const before = await cluster.onMachine(controlPlane, UNMARKED);
  await cluster.onMachine(controlPlane, `sed -i 's/^    - kube-scheduler$/&\\n    - --v=3/' ${SCHEDULER}`);
  await cluster.onMachine(worker, `echo '# by hand' >>${SYSCTL}`);
  await awaitReport(cluster, controlPlane, SCHEDULER);
  await awaitReport(cluster, worker, SYSCTL);

  const { changes, notes } = await cluster.preview();
  assert.deepEqual(changes, []);
  for (const remark of [`${controlPlane}: differs from what foresail wrote: ${SCHEDULER}`, "+    - --v=3"])
    assert.ok(notes.join("\n").includes(remark), `${remark} is not in:\n${notes.join("\n")}`);
  const found = await drifted(cluster, 10);
  assert.deepEqual(
    found.map(({ node, path, difference }) => [node, path, difference]),
    [
      [controlPlane, SCHEDULER, "changed"],
      [worker, SYSCTL, "changed"],
    ],
  );
  assert.match(found[0]?.diff ?? "", /^\+ {4}- --v=3$/m);

  const accepted = await cluster.foresail("drift", "--accept", `${worker}:${SYSCTL}`);
  assert.equal(accepted.exitCode, 0, accepted.stderr);
  assert.deepEqual(
    (await drifted(cluster, 10)).map(({ node }) => node),
    [controlPlane],
  );
  await awaitReport(cluster, worker, undefined);

  await cluster.configure({ machines, fields: { ...fields, drift: "repair" } });
  const { steps } = await cluster.preview();
  const repairs = steps[`${cluster.name}-rollout`] ?? [];
  assert.equal(repairs.length, 1, repairs.join("\n"));
  assert.ok(repairs[0]?.startsWith(`${controlPlane}: repair ${SCHEDULER}`), repairs[0]);
  await cluster.up();
  assert.deepEqual(await drifted(cluster, 0), []);
  assert.doesNotMatch(await cluster.onMachine(controlPlane, SCHEDULER_ARGUMENTS), /--v=3/);
  assert.equal(await cluster.onMachine(controlPlane, UNMARKED), before);
  assert.match(await cluster.onMachine(worker, `cat ${SYSCTL}`), /^# by hand$/m);
  assert.deepEqual((await cluster.preview()).changes, []);
}

/** What `foresail drift` finds, file by file. */
async function drifted(cluster: TestCluster, exitCode: number) {
  const answer = await cluster.foresail("drift", "--output", "json");
  assert.equal(answer.exitCode, exitCode, answer.stdout + answer.stderr);
  const { machines } = JSON.parse(answer.stdout) as JsonReport;
  return machines.flatMap(({ node, files }) => files.map((file) => ({ node, ...file })));
}

/** Waits until a machine reports a file, or nothing. */
async function awaitReport(cluster: TestCluster, name: string, file: string | undefined): Promise<void> {
  await awaitNode(cluster, name, {
    what: `the report of ${name} about ${file ?? "no file"}`,
    seconds: REPORT_SECONDS,
    decide: ({ metadata }) => {
      const report = metadata?.annotations?.[REPORT] ?? "none";
      const isThere = file === undefined ? report === "none" : report.includes(` ${file}`);
      return isThere ? undefined : report;
    },
  });
}
