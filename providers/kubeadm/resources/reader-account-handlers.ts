import { isDeepStrictEqual } from "node:util";
import { READER, READER_OBJECTS } from "../machine/reader-account";
import { explained } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import type { ReaderAccountInputs as Inputs } from "./declarations";

const nameOf = ({ specification }: Inputs) => `ReaderAccount ${specification.name}`;

/** Creates or updates the account and its roles. */
function apply(inputs: Inputs): Promise<Inputs> {
  const resource = nameOf(inputs);
  return explained({ resource, step: `make ${READER}` }, async () => {
    const { connect } = await import("./cluster-session.js");
    const kubernetes = await connect(resource, inputs);
    try {
      for (const object of READER_OBJECTS) await kubernetes.apply(object, { force: true });
    } finally {
      kubernetes.close();
    }
    return inputs;
  });
}

export const handlers: Handlers = {
  check(olds: Partial<Inputs>, news: Inputs) {
    if (olds.objects && !isDeepStrictEqual(olds.objects, READER_OBJECTS))
      report(nameOf(news), `the roles of ${READER} are brought up to date`);
    return Promise.resolve({ inputs: { ...news, objects: READER_OBJECTS }, failures: [] });
  },

  // the account does not depend on the kubeconfig that created it
  diff: (_id, olds: Inputs, news: Inputs) =>
    Promise.resolve({ changes: !isDeepStrictEqual(olds.objects, news.objects) }),

  create: async (inputs: Inputs) => ({ id: inputs.specification.name, outs: await apply(inputs) }),

  update: async (_id, _olds: Inputs, news: Inputs) => ({ outs: await apply(news) }),
};
