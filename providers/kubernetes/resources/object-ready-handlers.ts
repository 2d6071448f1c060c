import { isDeepStrictEqual } from "node:util";
import type { KubernetesClient } from "../../../lib/kubernetes";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { isKnown } from "../../../lib/unknown";
import { changedPaths } from "../plan/fields";
import { identityText, objectName } from "../plan/identity";
import { judgeStatus, missingFields, missingObject, type ObservedObject } from "../plan/status";
import { objectReadySteps } from "../plan/steps";
import { waitOf } from "./adoption-inputs";
import { askCluster, installer, isNotServed, isSameObject, siblings, onCluster } from "./inputs";
import type { ObjectReadyInputs as Inputs, ObjectReadyOutputs as Outputs } from "./object-resources";

/** The namespace has no object of the kind. */
class NoneThere extends Error {}

type Live = ObservedObject & { metadata?: { uid?: string } };

const nameOf = ({ object }: Inputs) => `ObjectReady ${objectName(object)}`;

/** Waits for the status. Changes nothing, so a failed run can be repeated. */
async function waitReady(written: Inputs): Promise<Outputs> {
  const inputs = await withName(written, undefined);
  const { untilReady } = await import("./object-waits.js");
  const context = { resource: nameOf(inputs), step: "wait for its status" };
  return onCluster(
    inputs,
    context,
    async (work) => {
      const { uid, values } = await untilReady(work, inputs.object, inputs.wait, inputs.timeoutSeconds);
      // the cluster may not have responded during the check
      if (inputs.mustHave ?? inputs.guard) {
        const live = await work.kubernetes.get<Live>(inputs.object);
        const refused = await guarded(work.kubernetes, inputs, live);
        const unmet = [...unmetReasons(inputs, live), ...refused];
        if (unmet.length > 0) throw new Error(unmet.join("; "));
      }
      return { ...inputs, uid, ready: true, values };
    },
    { readsOnly: true, installs: inputs },
  );
}

/**
 * Sets the name of an object without a name in the program: the one in the state, while it exists, or else the first of
 * its kind in the namespace. Returns the inputs unchanged when the cluster does not respond and no name is known.
 *
 * @throws NoneThere
 */
async function withName(inputs: Inputs, known: string | undefined): Promise<Inputs> {
  const { object } = inputs;
  if ((object.name as string | undefined) !== undefined) return inputs;
  const asked = await askCluster(inputs, (kubernetes) => siblings(kubernetes, object));
  if ("answer" in asked && asked.answer.length === 0)
    throw new NoneThere(`there is no ${object.kind} in the namespace ${object.namespace}; create one first`);
  const isThere = "silence" in asked || (known !== undefined && asked.answer.includes(known));
  const name = isThere ? known : asked.answer[0];
  return name === undefined ? inputs : { ...inputs, object: { ...object, name } };
}

/** Returns why a required object is missing; nothing when it exists, or when the cluster does not respond. */
async function missing(inputs: Inputs): Promise<string[]> {
  const { name, kind } = inputs.object;
  const asked = await askCluster(inputs, (kubernetes) => siblings(kubernetes, inputs.object));
  if ("silence" in asked || asked.answer.includes(name)) return [];
  return [missingObject(objectName(inputs.object), kind, asked.answer)];
}

/** Returns the required fields that the object does not have, with the fix. */
function unmetReasons({ object, mustHave = [] }: Inputs, live: unknown): string[] {
  const fix = `add it in its source, or name another ${object.kind}`;
  return missingFields(live, mustHave).map((field) => `${objectName(object)} has no ${field}; ${fix}`);
}

/** Returns why the guard refuses the object, if it does. @param before inputs in the state */
async function guarded(
  kubernetes: KubernetesClient,
  { guard, object }: Inputs,
  live: Live | undefined,
  before: Partial<Outputs> = {},
): Promise<string[]> {
  if (guard === undefined || live === undefined) return [];
  const { guardRefusal } = await import("../../guards.js");
  const { object: known, values = {} } = before;
  const recorded = known === undefined ? {} : { before: { name: known.name, values } };
  return [await guardRefusal(kubernetes, { guard, object, live, ...recorded })].filter(
    (refusal) => refusal !== undefined,
  );
}

/** Returns the object's current state, and why its guard refuses it. A kind that is not served has no objects. */
function look(inputs: Inputs, before?: Partial<Outputs>) {
  return askCluster(inputs, async (kubernetes) => {
    try {
      const live = await kubernetes.get<Live>(inputs.object);
      if (live === undefined) return undefined;
      const refused = before ? await guarded(kubernetes, inputs, live, before) : [];
      return { uid: live.metadata?.uid ?? "", judged: judgeStatus(live, inputs.wait), live, refused };
    } catch (error) {
      if (isNotServed(error)) return undefined;
      throw error;
    }
  });
}

const { format } = objectReadySteps;

/** Returns the steps of a run with what a preview shows of the object, or why the object is refused. */
async function plan(written: Inputs, olds: Partial<Outputs>) {
  const news = await withName(written, olds.object?.name);
  const asked = await look(news, olds);
  const object = objectName(news.object);
  const found = "answer" in asked ? asked.answer : undefined;
  const absent = news.mustExist && "answer" in asked && !found ? await missing(news) : [];
  const unmet = found ? unmetReasons(news, found.live) : [];
  const reasons = [...absent, ...(found?.refused ?? []), ...unmet];
  if (reasons.length > 0) return { inputs: { ...news, steps: [] as string[] }, reasons };
  const judged = found?.judged;
  if (judged && "done" in judged) {
    const changed = olds.values === undefined ? [] : changedPaths(olds.values, judged.done);
    const steps = changed.length === 0 ? [] : [format({ kind: "take", object, paths: changed.join(", ") })];
    // values are inputs, so that they are known in a preview
    return { inputs: { ...news, steps, values: judged.done }, reasons };
  }
  const wait = format({ kind: "wait", object, ...waitOf(news) });
  if ("answer" in asked) return { inputs: { ...news, steps: [wait] }, reasons };
  const steps = [format({ kind: "notRead", object, why: asked.silence }), wait];
  return { inputs: { ...news, steps: olds.object === undefined ? steps : [] }, reasons };
}

export const handlers: Handlers = {
  async check(olds: Partial<Outputs>, news: Inputs) {
    if (!isKnown(news.object))
      return {
        inputs: { ...news, steps: [format({ kind: "waitUnnamed", ...waitOf(news) })] },
        failures: [],
      };
    const { KubernetesError } = await import("../../../lib/kubernetes/index.js");
    try {
      const { inputs, reasons } = await plan(news, olds);
      return { inputs, failures: reasons.map((reason) => ({ property: "object", reason })) };
    } catch (error) {
      const isServed = !isNotServed(error);
      if (isServed && !(error instanceof KubernetesError || error instanceof NoneThere)) throw error;
      const { message } = error as Error;
      const reason = isServed ? message : `${message}; ${installer(news)} first`;
      return { inputs: news, failures: [{ property: "object", reason }] };
    }
  },

  async diff(_id, olds: Outputs, news: Inputs) {
    if (!isKnown(news.object)) return { changes: true };
    if (!isSameObject(olds.object, news.object)) return { changes: true, replaces: ["object"] };
    const compared = ({ kubeconfig, object, wait, triggers = [] }: Inputs) => [
      kubeconfig,
      object,
      wait,
      triggers,
    ];
    if (!olds.ready || !isDeepStrictEqual(compared(olds), compared(news))) return { changes: true };
    const asked = await look(news);
    if ("silence" in asked) return { changes: false };
    const { uid, judged } = asked.answer ?? {};
    const isSame = judged !== undefined && "done" in judged && isDeepStrictEqual(judged.done, olds.values);
    return { changes: !isSame || uid !== olds.uid };
  },

  async create(inputs: Inputs) {
    const outs = await waitReady(inputs);
    return { id: identityText(outs.object), outs };
  },

  update: async (_id, _olds: Outputs, news: Inputs) => ({ outs: await waitReady(news) }),

  async read(id, props: Outputs) {
    const asked = await look(props);
    if ("silence" in asked) throw new Error(`${nameOf(props)}: ${asked.silence}`);
    if (asked.answer === undefined) return {};
    const { uid, judged } = asked.answer;
    const values = "done" in judged ? judged.done : props.values;
    return { id, props: { ...props, uid, ready: "done" in judged, values } };
  },
};
