import assert from "node:assert/strict";
import { isPreparation } from "../../../cli/review/steps";
import { annotationKeys, FAILED_CHANGE } from "../../../providers/kubeadm/plan/rollout/annotations";
import type { Desired, TestCluster } from "../test-cluster";

const KEYS = annotationKeys();
/** How long `up` may go on after the program that refuses the change has refused it. */
const REPORT_SECONDS = 60;

/** The machines of a small cluster. */
export interface Machines {
  /** Those of the configuration; `worker` is the one that changes first. */
  readonly all: readonly string[];
  readonly controlPlane: string;
  readonly worker: string;
  /** A machine that is in no configuration. */
  readonly spare: string;
}

/** A change that was a mistake. A new kind is one entry in `changes.ts`, and the documentation has a row for it. */
export interface FailingChange {
  /** The change, as docs/recovery.md names it. */
  readonly name: string;
  /** Whether it is tried by day, too. */
  readonly byDay?: true;
  /** Makes the machines or the cluster refuse it, where no value does. */
  readonly before?: (cluster: TestCluster, machines: Machines) => Promise<unknown>;
  /** Undoes that, once the change was taken back. */
  readonly after?: (cluster: TestCluster, machines: Machines) => Promise<unknown>;
  /** Returns the configuration with the mistake. */
  readonly edit: (desired: Desired, machines: Machines) => Desired;
  /** Every line that the preview of the mistake lists, whatever its resource; undefined where it refuses the change. */
  readonly lists?: (machines: Machines) => readonly RegExp[];
  /** How the run ends; `up` that fails, unless something else ends it. */
  readonly fails?: (cluster: TestCluster, machines: Machines) => Promise<string>;
  /** What its output says. */
  readonly says?: RegExp;
  /** A script that prints on the machine whose program refused the change when it did so first since some second. */
  readonly refusedAt?: (since: number) => string;
  /** Where no way leads back: how that is refused, and the edit that leads on. */
  readonly forward?: { readonly refused: RegExp; readonly edit: (desired: Desired) => Desired };
  /** Every line that the preview lists when the change was taken back. */
  readonly returns: (machines: Machines) => readonly RegExp[];
}

/** How long a change took, in seconds: its failing run, the part of it after the refusal, and the way back. */
export interface Times {
  readonly failed: number;
  readonly refused?: number;
  readonly back: number;
}

const seconds = async <Answer>(work: Promise<Answer>): Promise<[number, Answer]> => {
  const started = Date.now();
  const answer = await work;
  return [(Date.now() - started) / 1000, answer];
};

/** What a machine has of its cluster and its configuration, apart from times. */
const STATE = `cd /
find /etc/kubernetes /etc/foresail /etc/example /etc/cni /etc/systemd/system /etc/haproxy /etc/containerd /etc/apt \\
  ! -path '/etc/kubernetes/tmp*' ! -path '/etc/foresail/keys*' ! -name node-agent.conf -type f 2>/dev/null | sort | while read -r path; do
  printf '%s %s %s\\n' "$path" "$(stat --format %a,%U:%G "$path")" "$(sed '/foresail\\/restarted-at/d; /^  annotations:$/d' "$path" | sha256sum | cut -c 1-12)"
done
for path in /var/lib/kubelet/config.yaml /var/lib/kubelet/kubeadm-flags.env; do sha256sum "$path"; done
for path in installing/* changing applying; do [ ! -e "/var/lib/foresail/agent/$path" ] || echo "left: $path"; done
printf 'unfinished: %s\\n' "$(cat /var/lib/foresail/agent/unfinished 2>/dev/null)"
apt-mark showhold`;
const CONFIG_MAPS = `kubectl --kubeconfig /etc/kubernetes/admin.conf --namespace kube-system get configmap kubeadm-config kubelet-config kube-proxy \\
  --output 'jsonpath={range .items[*]}{.data}{"\\n"}{end}'`;

async function stateOf(cluster: TestCluster, names: readonly string[], controlPlane: string) {
  const files = await Promise.all(
    names.map(async (name) => [name, (await cluster.onMachine(name, STATE)).split("\n")] as const),
  );
  const nodes = await cluster.withApi((client) => client.listNodes());
  return {
    ...Object.fromEntries(files),
    cluster: await cluster.onMachine(controlPlane, CONFIG_MAPS),
    nodes: Object.fromEntries(
      nodes.map(({ metadata, spec }) => [
        metadata?.name ?? "",
        {
          unschedulable: spec?.unschedulable,
          taints: spec?.taints,
          labels: metadata?.labels,
          annotations: settled(metadata?.annotations ?? {}),
        },
      ]),
    ),
  };
}

/** The annotations of rollouts and removals that remain, without those that ask for what the node has, and what failed on it. */
function settled(annotations: Record<string, string>): Record<string, string> {
  const own = Object.entries(annotations).filter(([key]) => /caos\.ch|foresail/.test(key));
  return Object.fromEntries(
    own.filter(
      ([key, value]) =>
        !(key === KEYS.changesAllowed && value === "false") &&
        key !== FAILED_CHANGE &&
        !/\/(desired-version|revision)$/.test(key),
    ),
  );
}

const stepsOf = async (cluster: TestCluster, { spare }: Machines): Promise<string[]> =>
  Object.values((await cluster.preview()).steps)
    .flat()
    .filter(
      (line) =>
        !OF_EARLIER_CHANGES.test(line) &&
        !isPreparation(line) &&
        !line.startsWith(`${spare}: stage configuration `),
    );

function assertLines(found: readonly string[], expected: readonly RegExp[], what: string): void {
  const words = `${what}:\n${found.join("\n")}`;
  assert.equal(found.length, expected.length, words);
  for (const line of expected)
    assert.ok(
      found.some((each) => line.test(each)),
      `no ${line} in ${words}`,
    );
}

/** When a program refused something first, on any machine. */
async function firstRefusal(cluster: TestCluster, names: readonly string[], script: string): Promise<number> {
  const answers = await Promise.all(names.map((name) => cluster.onMachine(name, script)));
  return Math.min(...answers.map(Number.parseFloat).filter(Number.isFinite));
}

/**
 * Lines that depend on what changed before: versions of earlier changes, and the first change of configuration. After it,
 * machines that join are staged one, too.
 */
const OF_EARLIER_CHANGES = /: no longer stage |^cluster: update the ValidatingAdmissionPolicy /;

/**
 * Makes a change that was a mistake, and takes it back: the preview lists what happens, the run ends soon with the words of
 * the program that refuses it, one `up` reaches what was there before, and the next one has nothing to do.
 */
export async function assertWayBack(
  cluster: TestCluster,
  desired: Desired,
  machines: Machines,
  change: FailingChange,
): Promise<Times> {
  const names = desired.machines;
  const before = await stateOf(cluster, names, machines.controlPlane);
  await change.before?.(cluster, machines);
  await cluster.configure(change.edit(desired, machines));
  if (change.lists)
    assertLines(await stepsOf(cluster, machines), change.lists(machines), "the preview of the change");
  const started = Math.floor(Date.now() / 1000);
  const fails = change.lists === undefined ? cluster.failingPreview() : undefined;
  const [failed, output] = await seconds(fails ?? change.fails?.(cluster, machines) ?? cluster.failingUp());
  const ended = Date.now() / 1000;
  if (change.says) assert.match(output.replaceAll(/\n\s*/g, " "), change.says, output);
  const at = change.refusedAt && (await firstRefusal(cluster, names, change.refusedAt(started)));
  if (at !== undefined)
    assert.ok(at >= started && at <= ended, `refused at ${at}, run from ${started} to ${ended}`);
  const refused = at === undefined ? undefined : ended - at;
  assert.ok(
    (refused ?? 0) < REPORT_SECONDS,
    `${refused} s from the refusal to the end of the run:\n${output}`,
  );

  await cluster.configure(desired);
  if (change.forward) {
    assert.match((await cluster.failingPreview()).replaceAll(/\n\s*/g, " "), change.forward.refused);
    await cluster.configure(change.forward.edit(desired));
  } else
    assertLines(await stepsOf(cluster, machines), change.returns(machines), "the preview of the way back");
  const [back] = await seconds(cluster.up());
  await change.after?.(cluster, machines);
  assert.deepEqual((await cluster.preview()).changes, []);
  if (!change.forward) assert.deepEqual(await stateOf(cluster, names, machines.controlPlane), before);
  return { failed, ...(refused === undefined ? {} : { refused }), back };
}
