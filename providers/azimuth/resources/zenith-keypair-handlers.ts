import { isDeepStrictEqual } from "node:util";
import { keyedEntry, type KeyedFile } from "../plan/zenith-values";
import { zenithKeypairSteps, type ZenithKeypairStep } from "../plan/steps";
import { zenithFilesSecretName, zenithSecretName } from "../plan/names";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { askCluster } from "../../kubernetes/resources/inputs";
import { isKnown } from "../../../lib/unknown";
import type { ZenithKeypairInputs as Inputs, ZenithKeypairOutputs as Outputs } from "./declarations";
import { clusterHandlers, onManagement } from "./management";

const nameOfSecret = ({ namespace, cluster }: Inputs) => `Secret ${namespace}/${zenithSecretName(cluster)}`;

/**
 * Creates the key, reserves its name and writes the files that contain it, unless they exist.
 *
 * @param olds the values in the state
 */
async function ensure(inputs: Inputs, olds?: Outputs): Promise<Outputs> {
  const { ensureZenithSecret, writeZenithFiles } = await import("../client/zenith.js");
  return onManagement("ZenithKeypair", inputs, `ensure the ${nameOfSecret(inputs)}`, async (work) => {
    const { made, ...pair } = await ensureZenithSecret(work.management, {
      ...inputs,
      ...(olds ? { known: { privateKey: olds.privateKey, publicKey: olds.publicKey } } : {}),
      ...(olds ? { knownName: { subdomain: olds.subdomain, fqdn: olds.fqdn } } : {}),
      seconds: inputs.timeoutSeconds,
      signal: work.signal,
      progress: work.progress,
    });
    const { files = [] } = inputs;
    await writeZenithFiles(work.management, { ...inputs, files, privateKey: pair.privateKey });
    return { ...inputs, ...pair, made: made || (olds?.made ?? false) };
  });
}

/** Returns the steps of a run. @throws Error when this stack did not create the Secret of the files */
async function plan(inputs: Inputs, olds: Partial<Outputs>): Promise<ZenithKeypairStep[]> {
  const { missingZenithFiles, readZenithSecret } = await import("../client/zenith.js");
  const isRecorded = olds.cluster !== undefined;
  const files = isKnown(inputs.files) ? (inputs.files ?? []) : [];
  const asked = await askCluster(inputs, async (management) => {
    const key = await readZenithSecret(management, inputs);
    // a deleted key is restored from the state, and its files are still correct
    const privateKey = key?.privateKey ?? olds.privateKey;
    return { key, missing: await missingZenithFiles(management, { ...inputs, files, privateKey }) };
  });
  if ("answer" in asked) {
    const { key, missing } = asked.answer;
    return [...planKey(inputs, key, isRecorded), ...planFiles(inputs, missing)];
  }
  const known = (olds.files ?? []).map(keyedEntry);
  const changed = files.filter((file) => !known.includes(keyedEntry(file)));
  return [...(isRecorded ? [] : planKey(inputs, undefined, false)), ...planFiles(inputs, changed)];
}

function planFiles({ namespace, cluster }: Inputs, missing: readonly KeyedFile[]): ZenithKeypairStep[] {
  if (missing.length === 0) return [];
  const files = missing.map(({ name }) => name).join(", ");
  return [{ kind: "writeFiles", files, secret: `Secret ${namespace}/${zenithFilesSecretName(cluster)}` }];
}

function planKey(
  inputs: Inputs,
  key: { fqdn?: string } | undefined,
  isRecorded: boolean,
): ZenithKeypairStep[] {
  const secret = nameOfSecret(inputs);
  if (key === undefined && isRecorded) return [{ kind: "restore", secret }];
  if (key === undefined) return [{ kind: "make", secret, url: inputs.registrarAdminUrl }];
  if (key.fqdn === undefined) return [{ kind: "reserve", secret }];
  return isRecorded ? [] : [{ kind: "take", secret, fqdn: key.fqdn }];
}

export const handlers: Handlers = clusterHandlers<Inputs, Outputs>({
  async check(olds, news) {
    const { chartIssue, ...inputs } = news;
    if (chartIssue !== undefined && isKnown(chartIssue))
      return { inputs: { ...inputs, steps: [] }, failures: [{ property: "chartIssue", reason: chartIssue }] };
    const steps = (await plan(inputs, olds)).map(zenithKeypairSteps.format);
    return { inputs: { ...inputs, steps } };
  },

  isChanged: (olds, news) =>
    (news.steps ?? []).length > 0 || !isDeepStrictEqual(olds.files ?? [], news.files ?? []),
  write: ensure,

  async delete(olds) {
    const { deleteZenithFiles } = await import("../client/zenith.js");
    const name = zenithSecretName(olds.cluster);
    await onManagement("ZenithKeypair", olds, `delete the ${nameOfSecret(olds)}`, async ({ management }) => {
      await deleteZenithFiles(management, olds);
      if (olds.made)
        await management.delete({ apiVersion: "v1", kind: "Secret", namespace: olds.namespace, name });
    });
  },
});
