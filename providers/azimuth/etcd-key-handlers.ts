import { randomBytes } from "node:crypto";
import { etcdKeySecretName } from "../../core/azimuth/names";
import type { Handlers } from "../handler-types";
import { askCluster } from "../kubernetes/inputs";
import { type AzimuthInputs, movedFields } from "./cluster-inputs";
import { onManagement } from "./management";

interface Outputs extends AzimuthInputs {
  /** whether this stack made the Secret, and so deletes it */
  made: boolean;
}

const KEY_BYTES = 32;

const refOf = ({ namespace, cluster }: AzimuthInputs) => ({
  apiVersion: "v1",
  kind: "Secret",
  namespace,
  name: etcdKeySecretName(cluster),
});

const nameOfSecret = (inputs: AzimuthInputs) => `Secret ${inputs.namespace}/${refOf(inputs).name}`;

async function ensure(inputs: AzimuthInputs, wasMade: boolean): Promise<Outputs> {
  const { KubernetesError } = await import("../../clients/kubernetes/index.js");
  return onManagement("EtcdKey", inputs, `ensure the ${nameOfSecret(inputs)}`, async ({ management }) => {
    const { name, namespace } = refOf(inputs);
    try {
      await management.create({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace },
        data: { key: Buffer.from(randomBytes(KEY_BYTES).toString("base64")).toString("base64") },
      });
      return { ...inputs, made: true };
    } catch (error) {
      if (!(error instanceof KubernetesError) || error.reason !== "AlreadyExists") throw error;
      return { ...inputs, made: wasMade };
    }
  });
}

export const handlers: Handlers = {
  async check(olds: Partial<Outputs>, news: AzimuthInputs) {
    const asked = await askCluster(news, (management) => management.get(refOf(news)));
    const isThere = "silence" in asked ? olds.cluster !== undefined : asked.answer !== undefined;
    const steps = isThere ? [] : [`make a key in the ${nameOfSecret(news)}`];
    return { inputs: { ...news, steps }, failures: [] };
  },

  diff(_id, olds: Outputs, news: AzimuthInputs) {
    const replaces = movedFields(olds, news);
    const changes =
      replaces.length > 0 || (news.steps ?? []).length > 0 || olds.kubeconfig !== news.kubeconfig;
    return Promise.resolve({ changes, replaces });
  },

  create: async (inputs: AzimuthInputs) => ({
    id: `${inputs.namespace}/${inputs.cluster}`,
    outs: await ensure(inputs, false),
  }),

  update: async (_id, olds: Outputs, news: AzimuthInputs) => ({ outs: await ensure(news, olds.made) }),

  async delete(_id, olds: Outputs) {
    if (!olds.made) return;
    await onManagement("EtcdKey", olds, `delete the ${nameOfSecret(olds)}`, ({ management }) =>
      management.delete(refOf(olds)),
    );
  },
};
