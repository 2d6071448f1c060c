import { isDeepStrictEqual } from "node:util";
import { keyedEntry, type KeyedFile } from "../plan/zenith-values";
import { zenithKeypairSteps, type ZenithKeypairStep } from "../plan/steps";
import { azimuthRefs } from "../plan/names";
import type { ObjectRef } from "../../../lib/kubernetes";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { askCluster } from "../../kubernetes/resources/inputs";
import { isKnown } from "../../../lib/unknown";
import type { ZenithKeypairInputs as Inputs, ZenithKeypairOutputs as Outputs } from "./declarations";
import { clusterHandlers, onManagement } from "./management";

const nameOf = ({ namespace, name }: ObjectRef): string => `Secret ${namespace}/${name}`;

/**
 * Creates the key, reserves its name and writes the files that contain it, unless they exist.
 *
 * @param known the values in the state
 */
async function ensure(inputs: Inputs, known?: Outputs): Promise<Outputs> {
  const { ZenithSecrets } = await import("../client/zenith.js");
  const { owner, registrarAdminUrl, timeoutSeconds: seconds, files = [] } = inputs;
  const step = `ensure the ${nameOf(azimuthRefs(inputs).zenithKey)}`;
  return onManagement("ZenithKeypair", inputs, step, async ({ management, signal, progress }) => {
    const secrets = new ZenithSecrets(management, inputs);
    const { made, ...pair } = await secrets.ensureKey({
      known,
      registrarAdminUrl,
      owner,
      seconds,
      signal,
      progress,
    });
    await secrets.writeFiles(files, pair.privateKey, owner);
    return { ...inputs, ...pair, made: made || (known?.made ?? false) };
  });
}

/** Returns the steps of a run. @throws Error when this stack did not create the Secret of the files */
async function plan(inputs: Inputs, olds: Partial<Outputs>): Promise<ZenithKeypairStep[]> {
  const { ZenithSecrets } = await import("../client/zenith.js");
  const isRecorded = olds.cluster !== undefined;
  const files = isKnown(inputs.files) ? (inputs.files ?? []) : [];
  const asked = await askCluster(inputs, async (management) => {
    const secrets = new ZenithSecrets(management, inputs);
    const key = await secrets.readKey();
    // a deleted key is restored from the state, and its files are still correct
    const privateKey = key?.privateKey ?? olds.privateKey;
    return { key, missing: await secrets.missingFiles(files, privateKey) };
  });
  if ("answer" in asked) {
    const { key, missing } = asked.answer;
    return [...planKey(inputs, key, isRecorded), ...planFiles(inputs, missing)];
  }
  const known = (olds.files ?? []).map(keyedEntry);
  const changed = files.filter((file) => !known.includes(keyedEntry(file)));
  return [...(isRecorded ? [] : planKey(inputs, undefined, false)), ...planFiles(inputs, changed)];
}

function planFiles(inputs: Inputs, missing: readonly KeyedFile[]): ZenithKeypairStep[] {
  if (missing.length === 0) return [];
  const files = missing.map(({ name }) => name).join(", ");
  return [{ kind: "writeFiles", files, secret: nameOf(azimuthRefs(inputs).zenithFiles) }];
}

function planKey(
  inputs: Inputs,
  key: { fqdn?: string } | undefined,
  isRecorded: boolean,
): ZenithKeypairStep[] {
  const secret = nameOf(azimuthRefs(inputs).zenithKey);
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
    const { ZenithSecrets } = await import("../client/zenith.js");
    const { zenithKey } = azimuthRefs(olds);
    await onManagement("ZenithKeypair", olds, `delete the ${nameOf(zenithKey)}`, async ({ management }) => {
      await new ZenithSecrets(management, olds).deleteFiles();
      if (olds.made) await management.delete(zenithKey);
    });
  },
});
