/** A rollout that is killed at one of its boundaries, and how a cluster has to be at the end. */
import assert from "node:assert/strict";
import { annotationKeys, CONFIGURATION } from "../../providers/kubeadm/plan/rollout/annotations";
import { nameOf, untilOrphansEnd, upKilledWhen } from "./killed-up";
import { type AgentUnit, deedOf, type VersionRollout } from "./version-rollout";

const KEYS = annotationKeys();
const STEP = /^start of /;
const WITHOUT_AGENT = /^asked (\S+), whose agent is (stopped|broken|hung|hung for ever)$/;

/**
 * Leaves what an `up` leaves that is killed at a point: "asked w-1" is killed before that write takes effect, but for an agent's
 * own, which comes to its end; "start of node-agent on w-1" goes on to its end on its machine; "asked w-1, whose agent is stopped"
 * is killed after that write, which the agent does not see.
 *
 * @param want writes what this `up` is to reach into the stack's file
 */
export async function rolloutKilledAt(
  rollout: VersionRollout,
  point: string,
  want: () => void,
): Promise<void> {
  const { gate, ground } = rollout;
  await rollout.startOver();
  want();
  const from = ground.fleet.files.journalLines.length;
  const isStep = STEP.test(point);
  const [, silent = "", unit = ""] = WITHOUT_AGENT.exec(point) ?? [];
  if (silent !== "") rollout.stopsWhenAsked(silent, unit as AgentUnit);
  gate.expectRun((write) => !isStep && deedOf(write) === point);
  const look = () => {
    if (isStep) return ground.fleet.files.journalLines.slice(from).find((line) => nameOf(line) === point);
    if (silent !== "") return rollout.stopped === silent ? { silent } : undefined;
    return gate.held;
  };
  const up = await upKilledWhen<object>(ground.stack, "the whole tree", look);
  assert.ok(up.killed, `it ended before: ${point}\n${up.output}`);
  gate.held?.answer(gate.held.write.byAgent);
  await untilOrphansEnd(up.orphans);
  await ground.stack.clearDeadLocks();
  gate.release();
}

/** Runs a command to its end. @throws Error with what it printed when it fails */
export async function succeed({ ground }: VersionRollout, command: string): Promise<void> {
  const { exitCode, stdout, stderr } = await ground.stack.call([command, "--yes", "--skip-preview"]);
  assert.equal(exitCode, 0, stdout + stderr);
}

/** Asserts that these machines take pods with this version, that no change of them is open, and that nothing is left to do. */
export async function expectNodes(
  { ground }: VersionRollout,
  version: string,
  machines: readonly string[],
): Promise<void> {
  const nodes = await ground.kubernetes.listNodes();
  const found = nodes.map(({ metadata, spec, status }) => [
    metadata?.name,
    status?.nodeInfo?.kubeletVersion,
    spec?.unschedulable ?? false,
    metadata?.annotations?.[KEYS.changesAllowed] ?? "false",
  ]);
  assert.deepEqual(
    found.sort(),
    machines.map((name) => [name, `v${version}`, false, "false"]),
  );
  assert.deepEqual(await ground.stack.preview(), []);
}

/** The configuration that each Node reports, and is asked for: "none" before its first change. */
export async function configurations({ ground }: VersionRollout): Promise<Record<string, string[]>> {
  const nodes = await ground.kubernetes.listNodes();
  return Object.fromEntries(
    nodes.map(({ metadata }) => {
      const versions = [KEYS.current(CONFIGURATION), KEYS.desired(CONFIGURATION)].map(
        (key) => metadata?.annotations?.[key] ?? "none",
      );
      return [metadata?.name ?? "", [...new Set(versions)]];
    }),
  );
}
