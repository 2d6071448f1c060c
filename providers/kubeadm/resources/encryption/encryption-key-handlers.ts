import { explained } from "../../../../lib/pulumi/failure";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { report } from "../../../../lib/pulumi/log";
import { isKnown, isKnownList, isUnknown } from "../../../../lib/unknown";
import { keyGeneration, rotationSteps } from "../../plan/encryption/encryption";
import { withoutCredentials } from "../../plan/cluster/machine";
import { encryptionKeySteps } from "../../plan/steps";
import type { EncryptionKeyInputs as Inputs } from "../declarations";

const nameOf = ({ specification }: Inputs) => `EncryptionKey ${specification.name}`;

/** Returns the generation that the cluster has without this run. A first key of another generation than 1 is known. */
function currentGeneration(olds: Partial<Inputs>, { initialKeyGeneration = 1 }: Inputs): number {
  if (olds.specification) return keyGeneration(olds.specification);
  return isUnknown(initialKeyGeneration) ? 1 : initialKeyGeneration;
}

/**
 * Rotates to the desired generation. Not a partial failure: the state keeps the earlier generation, so that the next
 * preview lists the rotation again, and its run continues.
 */
function rotate(inputs: Inputs): Promise<Inputs> {
  const resource = nameOf(inputs);
  return explained({ resource, step: "rotate the encryption key" }, async () => {
    const { rotateKey } = await import("./encryption-rotation.js");
    if ((inputs.steps ?? []).length > 0) await rotateKey(resource, inputs);
    return withoutCredentials(inputs);
  });
}

export const handlers: Handlers = {
  check(olds: Partial<Inputs>, news: Inputs) {
    if (!isKnownList(news.machines) || !isKnown(news.specification)) {
      const steps = [encryptionKeySteps.format({ kind: "unknown", until: "the machines exist" })];
      return Promise.resolve({ inputs: { ...news, steps }, failures: [] });
    }
    const to = keyGeneration(news.specification);
    const names = news.machines.map(({ name }) => name);
    const steps = rotationSteps(names, currentGeneration(olds, news), to).map(encryptionKeySteps.format);
    for (const line of steps) report(nameOf(news), line);
    return Promise.resolve({ inputs: { ...news, steps }, failures: [] });
  },

  diff: (_id, _olds: Inputs, news: Inputs) =>
    Promise.resolve({ changes: (news.steps ?? []).length > 0 || !isKnownList(news.machines) }),

  create: async (inputs: Inputs) => ({ id: inputs.specification.name, outs: await rotate(inputs) }),

  update: async (_id, _olds: Inputs, news: Inputs) => ({ outs: await rotate(news) }),
};
