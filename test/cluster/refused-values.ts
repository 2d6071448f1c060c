import assert from "node:assert/strict";
import { annotationKeys } from "../../providers/kubeadm/plan/rollout/annotations";
import { containerNodeSettings } from "../../sandbox/nodes/container-node-settings";
import type { Desired, TestCluster } from "./test-cluster";

const KEYS = annotationKeys();
/** From the start of `up` to its error: the drain, the change, and at most a minute after the program's own refusal. */
const LONGEST_SECONDS = 180;

interface RefusedValue {
  /** What refuses it. */
  readonly by: string;
  readonly fields: Record<string, unknown>;
  /** The program's own words in the error. */
  readonly says: RegExp;
}

/** Values that no preview can know to be wrong, and that a program on the machine refuses. */
export const REFUSED_VALUES: readonly RefusedValue[] = [
  {
    by: "the kubelet",
    fields: {
      kubelet: { ...containerNodeSettings.kubelet, logging: { format: "nosuch" } },
    },
    says: /the kubelet ended three times .*Unsupported log format/,
  },
  {
    by: "the API server",
    fields: {
      kubeadm: {
        clusterConfiguration: {
          ...containerNodeSettings.kubeadm.clusterConfiguration,
          apiServer: { extraArgs: [{ name: "service-account-max-token-expiration", value: "1s" }] },
        },
      },
    },
    says: /kube-apiserver ended three times .*max-token-expiration must be between/,
  },
  {
    by: "the package manager",
    fields: { rollout: { software: { containerd: "9.9.9" } } },
    says: /no apt repository of this machine has containerd 9\.9\.9; it has: [0-9]/,
  },
];

/**
 * Changes a value to one that a program refuses, and takes it back: the run ends soon with the program's words, and the
 * next one ends with what was there before.
 */
export async function assertTakenBack(
  cluster: TestCluster,
  desired: Desired,
  { by, fields, says }: RefusedValue,
): Promise<void> {
  await cluster.configure({ ...desired, fields: { ...desired.fields, ...fields } });
  const started = Date.now();
  const output = await cluster.failingUp();
  const seconds = (Date.now() - started) / 1000;
  assert.match(output.replaceAll(/\n\s*/g, " "), says, `${by}: ${output}`);
  assert.match(output, /fix the value, or take it back/);
  assert.ok(seconds < LONGEST_SECONDS, `${by}: ${seconds} s`);

  await cluster.configure(desired);
  await cluster.up();
  assert.deepEqual((await cluster.preview()).changes, [], by);
  for (const { metadata, spec } of await cluster.withApi((client) => client.listNodes())) {
    const annotations = metadata?.annotations ?? {};
    assert.equal(spec?.unschedulable, undefined, metadata?.name);
    assert.equal(annotations[KEYS.changesAllowed] ?? "false", "false");
    assert.equal(annotations[KEYS.finalFailure], undefined);
    assert.equal(annotations[KEYS.message], undefined);
  }
}
