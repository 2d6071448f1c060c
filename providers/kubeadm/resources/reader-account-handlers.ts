import { isDeepStrictEqual } from "node:util";
import { READER, READER_OBJECTS } from "../machine/reader-account";
import { describeFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { userAgent } from "../../../lib/version";
import type { ReaderAccountInputs as Inputs } from "./reader-account";

/** Creates or updates the account and its roles. */
async function apply(inputs: Inputs): Promise<Inputs> {
  const { KubernetesClient } = await import("../../../lib/kubernetes/index.js");
  try {
    const kubernetes = await KubernetesClient.connect(
      { kubeconfig: inputs.kubeconfig },
      { seconds: inputs.timeouts.ready, userAgent: userAgent(inputs) },
    );
    try {
      for (const object of READER_OBJECTS) await kubernetes.apply(object, { force: true });
    } finally {
      kubernetes.close();
    }
    return inputs;
  } catch (error) {
    // applying is idempotent, so a failed run can simply be repeated
    const context = { resource: `ReaderAccount ${inputs.specification.name}`, step: `make ${READER}` };
    throw new Error(describeFailure(context, error), { cause: error });
  }
}

export const handlers: Handlers = {
  check(olds: Partial<Inputs>, news: Inputs) {
    if (olds.objects && !isDeepStrictEqual(olds.objects, READER_OBJECTS))
      report(`ReaderAccount ${news.specification.name}`, `the roles of ${READER} are brought up to date`);
    return Promise.resolve({ inputs: { ...news, objects: READER_OBJECTS }, failures: [] });
  },

  // the account does not depend on the kubeconfig that created it
  diff: (_id, olds: Inputs, news: Inputs) =>
    Promise.resolve({ changes: !isDeepStrictEqual(olds.objects, news.objects) }),

  create: async (inputs: Inputs) => ({ id: inputs.specification.name, outs: await apply(inputs) }),

  update: async (_id, _olds: Inputs, news: Inputs) => ({ outs: await apply(news) }),
};
