import type { Owner } from "../../core/objects/adoption";
import { zenithSecretName } from "../../core/azimuth/names";
import type { Handlers } from "../handler-types";
import { askCluster } from "../kubernetes/inputs";
import { type AzimuthInputs, movedFields } from "./cluster-inputs";
import { onManagement } from "./management";

interface Inputs extends AzimuthInputs {
  registrarAdminUrl: string;
  owner: Owner;
  timeoutSeconds: number;
}

interface Outputs extends Inputs {
  subdomain: string;
  fqdn: string;
  privateKey: string;
  publicKey: string;
  /** whether this stack made the Secret, and so deletes it */
  made: boolean;
}

const nameOfSecret = ({ namespace, cluster }: Inputs) => `Secret ${namespace}/${zenithSecretName(cluster)}`;

/** Makes the key and reserves its name, whichever of it is not there yet. @param olds what the state has of it */
async function ensure(inputs: Inputs, olds?: Outputs): Promise<Outputs> {
  const { ensureZenithSecret } = await import("../../clients/azimuth/zenith-secret.js");
  return onManagement("ZenithKeypair", inputs, `ensure the ${nameOfSecret(inputs)}`, async (work) => {
    const { made, ...pair } = await ensureZenithSecret(work.management, {
      ...inputs,
      ...(olds ? { known: { privateKey: olds.privateKey, publicKey: olds.publicKey } } : {}),
      ...(olds ? { knownName: { subdomain: olds.subdomain, fqdn: olds.fqdn } } : {}),
      seconds: inputs.timeoutSeconds,
      signal: work.signal,
      progress: work.progress,
    });
    return { ...inputs, ...pair, made: made || (olds?.made ?? false) };
  });
}

/** What a run would do. */
async function plan(inputs: Inputs, olds: Partial<Outputs>): Promise<string[]> {
  const { readZenithSecret } = await import("../../clients/azimuth/zenith-secret.js");
  const asked = await askCluster(inputs, (management) => readZenithSecret(management, inputs));
  const make = `make an ed25519 key in the ${nameOfSecret(inputs)}, and reserve a name for it at ${inputs.registrarAdminUrl}`;
  if ("silence" in asked) return olds.cluster === undefined ? [make] : [];
  if (asked.answer?.fqdn !== undefined)
    return olds.cluster === undefined
      ? [`take the key that is in the ${nameOfSecret(inputs)}, for ${asked.answer.fqdn}`]
      : [];
  if (asked.answer !== undefined)
    return [`reserve a name for the key that is in the ${nameOfSecret(inputs)}`];
  return [
    olds.cluster === undefined
      ? make
      : `write the key of the state to the ${nameOfSecret(inputs)} again: somebody deleted it`,
  ];
}

export const handlers: Handlers = {
  async check(olds: Partial<Outputs>, news: Inputs) {
    return { inputs: { ...news, steps: await plan(news, olds) }, failures: [] };
  },

  diff(_id, olds: Outputs, news: Inputs) {
    const replaces = movedFields(olds, news);
    const changes =
      replaces.length > 0 || (news.steps ?? []).length > 0 || olds.kubeconfig !== news.kubeconfig;
    return Promise.resolve({ changes, replaces });
  },

  create: async (inputs: Inputs) => ({
    id: `${inputs.namespace}/${inputs.cluster}`,
    outs: await ensure(inputs),
  }),

  update: async (_id, olds: Outputs, news: Inputs) => ({ outs: await ensure(news, olds) }),

  async delete(_id, olds: Outputs) {
    if (!olds.made) return;
    const name = zenithSecretName(olds.cluster);
    await onManagement("ZenithKeypair", olds, `delete the ${nameOfSecret(olds)}`, ({ management }) =>
      management.delete({ apiVersion: "v1", kind: "Secret", namespace: olds.namespace, name }),
    );
  },
};
