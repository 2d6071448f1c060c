import { randomBytes } from "node:crypto";
import { judgeKey, KEY_BYTES } from "../plan/objects";
import { etcdKeySteps } from "../plan/steps";
import { azimuthRefs } from "../plan/names";
import { FIELD_MANAGER } from "../../kubernetes/plan/adoption";
import { type ManagedFields, owns } from "../../kubernetes/plan/fields";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { askCluster } from "../../kubernetes/resources/inputs";
import type { AzimuthInputs, EtcdKeyOutputs as Outputs } from "./declarations";
import { clusterHandlers, onManagement, reportOf } from "./management";

interface Secret {
  metadata?: { resourceVersion?: string; managedFields?: ManagedFields[] };
  data?: { key?: string };
}

/** Returns whether foresail wrote the key, from the API server's managed fields, since a check has no state to ask. */
const isOwn = ({ metadata }: Secret): boolean =>
  (metadata?.managedFields ?? []).some(
    (writer) => writer.manager === FIELD_MANAGER && owns(writer, ["f:data", "f:key"]),
  );

const refOf = (inputs: AzimuthInputs) => azimuthRefs(inputs).etcdKey;

const nameOfSecret = (inputs: AzimuthInputs) => `Secret ${inputs.namespace}/${refOf(inputs).name}`;

/** Creates the Secret unless it exists; removes the second encoding from one of foresail's own. */
async function ensure(inputs: AzimuthInputs, wasMade: boolean): Promise<Outputs> {
  const { KubernetesError } = await import("../../../lib/kubernetes/index.js");
  return onManagement("EtcdKey", inputs, `ensure the ${nameOfSecret(inputs)}`, async (work) => {
    const { management, progress } = work;
    const { name, namespace } = refOf(inputs);
    try {
      await management.create({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace },
        data: { key: randomBytes(KEY_BYTES).toString("base64") },
      });
      return { ...inputs, made: true };
    } catch (error) {
      if (!(error instanceof KubernetesError) || error.reason !== "AlreadyExists") throw error;
    }
    const secret = await management.get<Secret>(refOf(inputs));
    const judged = judgeKey(secret?.data?.key);
    if (secret && isOwn(secret) && judged.state === "encoded twice") {
      // only if the key has not changed since it was read
      const { resourceVersion } = secret.metadata ?? {};
      await management.mergePatch(refOf(inputs), {
        metadata: { resourceVersion },
        data: { key: judged.data },
      });
      progress(
        `the second encoding of the key in the ${nameOfSecret(inputs)} is removed; the key is the same`,
      );
    }
    return { ...inputs, made: wasMade };
  });
}

/** Returns what a run will do with the existing Secret; never changes another writer's key. */
function stepsFor(inputs: AzimuthInputs, secret: Secret | undefined): string[] {
  const name = nameOfSecret(inputs);
  if (secret === undefined) return [etcdKeySteps.format({ kind: "make", secret: name })];
  const judged = judgeKey(secret.data?.key);
  if (judged.state === "usable") return [];
  if (judged.state === "encoded twice" && isOwn(secret))
    return [etcdKeySteps.format({ kind: "decode", secret: name })];
  const bytes = judged.state === "unusable" ? judged.bytes : 44;
  reportOf(
    "EtcdKey",
    inputs,
    `the key in the ${name} has ${bytes} bytes, and others made it: it stays; ` +
      `an API server that encrypts takes only ${KEY_BYTES} bytes, so replace it before a template turns encryption on`,
  );
  return [];
}

export const handlers: Handlers = clusterHandlers<AzimuthInputs, Outputs>({
  async check(olds, news) {
    const asked = await askCluster(news, (management) => management.get<Secret>(refOf(news)));
    if ("silence" in asked && olds.cluster !== undefined) return { inputs: { ...news, steps: [] } };
    const secret = "answer" in asked ? asked.answer : undefined;
    return { inputs: { ...news, steps: stepsFor(news, secret) } };
  },

  isChanged: (_olds, news) => (news.steps ?? []).length > 0,
  write: (inputs, olds) => ensure(inputs, olds?.made ?? false),

  async delete(olds) {
    if (!olds.made) return;
    await onManagement("EtcdKey", olds, `delete the ${nameOfSecret(olds)}`, ({ management }) =>
      management.delete(refOf(olds)),
    );
  },
});
