import { recoverRelease } from "../plan/release-record";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { askCluster, onCluster } from "../../kubernetes/resources/inputs";
import type { ReleaseRecoveryInputs as Inputs } from "./release-recovery";

const nameOf = ({ namespace, release }: Inputs) => `ReleaseRecovery ${namespace}/${release}`;

function rolloutState({ namespace, release, isRecorded, adopt }: Inputs, isOurs: boolean) {
  return { release: `${namespace}/${release}`, isRecorded, adopt, isOurs };
}

/** @param isOurs whether an earlier run of this stack has already checked the release */
async function recover(inputs: Inputs, isOurs: boolean): Promise<Inputs> {
  const { forgetRevisions, untilSettled } = await import("../client/release-revisions.js");
  const ref = { namespace: inputs.namespace, name: inputs.release };
  const context = { resource: nameOf(inputs), step: "look at Helm's records" };
  await onCluster(inputs, context, async ({ kubernetes, signal, progress }) => {
    const revisions = await untilSettled(kubernetes, ref, { signal, progress });
    const { forget, steps, refusal } = recoverRelease(revisions, rolloutState(inputs, isOurs));
    if (refusal !== undefined) throw new Error(refusal);
    await forgetRevisions(kubernetes, ref, forget);
    for (const step of steps) progress(step);
  });
  return inputs;
}

export const handlers: Handlers = {
  async check(olds: Partial<Inputs>, news: Inputs) {
    const { readRevisions } = await import("../client/release-revisions.js");
    const ref = { namespace: news.namespace, name: news.release };
    const asked = await askCluster(news, (kubernetes) => readRevisions(kubernetes, ref));
    if ("silence" in asked) return { inputs: { ...news, steps: [] }, failures: [] };
    const isOurs = olds.release === news.release && olds.namespace === news.namespace;
    const { steps, refusal } = recoverRelease(asked.answer, rolloutState(news, isOurs));
    for (const step of steps) report(nameOf(news), step);
    const failures = refusal === undefined ? [] : [{ property: "release", reason: refusal }];
    return { inputs: { ...news, steps }, failures };
  },

  diff(_id, olds: Inputs, news: Inputs) {
    const replaces = (["namespace", "release"] as const).filter((field) => olds[field] !== news[field]);
    // a release that is now in the state is not a change
    const changes =
      replaces.length > 0 || (news.steps ?? []).length > 0 || olds.kubeconfig !== news.kubeconfig;
    return Promise.resolve({ changes, replaces });
  },

  create: async (inputs: Inputs) => ({
    id: `${inputs.namespace}/${inputs.release}`,
    outs: await recover(inputs, false),
  }),

  update: async (_id, _olds: Inputs, news: Inputs) => ({ outs: await recover(news, true) }),
};
