import { isDeepStrictEqual } from "node:util";
import { engineSignal } from "../../../lib/process/parent-watch";
import { type Identity, groupOf, identityText, objectName } from "../plan/identity";
import { changedPaths } from "../plan/fields";
import { missingObject, missingFields } from "../plan/requirements";
import { judgeStatus, type ObservedObject } from "../plan/status";
import { objectReadySteps } from "../plan/steps";
import { describeFailure } from "../../../lib/pulumi/failure";
import type { KubernetesClient } from "../../../lib/kubernetes";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { isKnown } from "../../../lib/unknown";
import { waitOf } from "./adoption-inputs";
import { askCluster, connectTo, resourceName } from "./inputs";
import type { ObjectReadyInputs as Inputs, ObjectReadyOutputs as Outputs } from "./object-resources";

/** The namespace has no object of the kind. */
class NoneThere extends Error {
  override readonly name = "NoneThere";
}

const withInstaller = ({ message }: Error, { installedBy }: Pick<Inputs, "installedBy">): string =>
  `${message}; install ${installedBy ?? "the definition of this kind"} first`;

type Live = ObservedObject & { metadata?: { uid?: string } };

async function waitReady(written: Inputs): Promise<Outputs> {
  const inputs = await withName(written, undefined);
  const { untilReady } = await import("./object-waits.js");
  const resource = resourceName("ObjectReady", inputs.object);
  const engine = engineSignal();
  const progress = (line: string) => report(resource, line);
  try {
    const kubernetes = await connectTo(inputs, { signal: engine.signal, progress, readsOnly: true });
    try {
      const waiter = { kubernetes, signal: engine.signal, progress };
      const { uid, values } = await untilReady(waiter, inputs.object, inputs.wait, inputs.timeoutSeconds);
      // the cluster may not have responded during the check
      if (inputs.mustHave ?? inputs.guard) {
        const live = await kubernetes.get<Live>(inputs.object);
        const refused = await guarded(kubernetes, inputs, live);
        const unmet = [...unmetReasons(inputs, live), ...(refused === undefined ? [] : [refused])];
        if (unmet.length > 0) throw new Error(unmet.join("; "));
      }
      return { ...inputs, uid, ready: true, values };
    } finally {
      kubernetes.close();
    }
  } catch (error) {
    // nothing was changed, so a failed run can be repeated
    const next = `install ${inputs.installedBy ?? "the definition of this kind"}, then run the same again`;
    const cause =
      error instanceof Error && error.name === "KindNotServed" ? Object.assign(error, { next }) : error;
    throw new Error(describeFailure({ resource, step: "wait for its status" }, cause), { cause: error });
  } finally {
    engine.stop();
  }
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
  const { namesOf } = await import("./adoption-work.js");
  const asked = await askCluster(inputs, (kubernetes) => namesOf(kubernetes, object));
  if ("answer" in asked && asked.answer.length === 0)
    throw new NoneThere(`there is no ${object.kind} in the namespace ${object.namespace}; create one first`);
  const isThere = "silence" in asked || (known !== undefined && asked.answer.includes(known));
  const name = isThere ? known : asked.answer[0];
  return name === undefined ? inputs : { ...inputs, object: { ...object, name } };
}

/** Returns why a required object is missing; undefined when it exists, or when the cluster does not respond. */
async function missing(inputs: Inputs): Promise<string | undefined> {
  const { KindNotServed } = await import("../../../lib/kubernetes/index.js");
  const { namesOf } = await import("./adoption-work.js");
  const { name, kind } = inputs.object;
  try {
    const asked = await askCluster(inputs, (kubernetes) => namesOf(kubernetes, inputs.object));
    if ("silence" in asked || asked.answer.includes(name)) return undefined;
    return missingObject(objectName(inputs.object), kind, asked.answer);
  } catch (error) {
    if (!(error instanceof KindNotServed)) throw error;
    return withInstaller(error, inputs);
  }
}

/** Returns the required fields that the object does not have, with the fix. */
function unmetReasons({ object, mustHave = [] }: Inputs, live: unknown): string[] {
  const fix = `add it in its source, or name another ${object.kind}`;
  return missingFields(live, mustHave).map((field) => `${objectName(object)} has no ${field}; ${fix}`);
}

/** Returns why the guard refuses the object. @param before inputs in the state */
async function guarded(
  kubernetes: KubernetesClient,
  { guard, object }: Inputs,
  live: Live | undefined,
  before: Partial<Outputs> = {},
): Promise<string | undefined> {
  if (guard === undefined || live === undefined) return undefined;
  const { guardRefusal } = await import("../../guards.js");
  const { object: known, values = {} } = before;
  const recorded = known === undefined ? {} : { before: { name: known.name, values } };
  return guardRefusal(kubernetes, { guard, object, live, ...recorded });
}

/** Returns the object's current state, and why its guard refuses it. A kind that is not served has no objects. */
async function look(inputs: Inputs, before?: Partial<Outputs>) {
  const { KindNotServed } = await import("../../../lib/kubernetes/index.js");
  return askCluster(inputs, async (kubernetes) => {
    try {
      const live = await kubernetes.get<Live>(inputs.object);
      if (live === undefined) return undefined;
      const refused = before && (await guarded(kubernetes, inputs, live, before));
      return { uid: live.metadata?.uid ?? "", judged: judgeStatus(live, inputs.wait), live, refused };
    } catch (error) {
      if (error instanceof KindNotServed) return undefined;
      throw error;
    }
  });
}

const { format } = objectReadySteps;

export const handlers: Handlers = {
  async check(olds: Partial<Outputs>, written: Inputs) {
    if (!isKnown(written.object))
      return {
        inputs: { ...written, steps: [format({ kind: "waitUnnamed", ...waitOf(written) })] },
        failures: [],
      };
    const { KindNotServed, KubernetesError } = await import("../../../lib/kubernetes/index.js");
    const looked = withName(written, olds.object?.name).then(async (named) => ({
      news: named,
      asked: await look(named, olds),
    }));
    const result = await looked.catch((error: unknown) => {
      if (error instanceof KubernetesError || error instanceof NoneThere) return { refusal: error.message };
      if (error instanceof KindNotServed) return { refusal: withInstaller(error, written) };
      throw error;
    });
    if ("refusal" in result)
      return { inputs: written, failures: [{ property: "object", reason: result.refusal }] };
    const { news, asked } = result;
    const object = objectName(news.object);
    const found = "answer" in asked ? asked.answer : undefined;
    const reason =
      news.mustExist && "answer" in asked && found === undefined ? await missing(news) : undefined;
    const unmet = found ? unmetReasons(news, found.live) : [];
    const reasons = [reason, found?.refused].filter((each) => each !== undefined).concat(unmet);
    if (reasons.length > 0) {
      const failures = reasons.map((each) => ({ property: "object", reason: each }));
      return { inputs: { ...news, steps: [] }, failures };
    }
    const judged = found?.judged;
    if (judged && "done" in judged) {
      const changed = olds.values === undefined ? [] : changedPaths(olds.values, judged.done);
      const steps = changed.length === 0 ? [] : [format({ kind: "take", object, paths: changed.join(", ") })];
      // values are inputs, so that they are known in a preview
      return { inputs: { ...news, steps, values: judged.done }, failures: [] };
    }
    const steps = [
      ...("silence" in asked ? [format({ kind: "notRead", object, why: asked.silence })] : []),
      format({ kind: "wait", object, ...waitOf(news) }),
    ];
    return {
      inputs: { ...news, steps: "silence" in asked && olds.object !== undefined ? [] : steps },
      failures: [],
    };
  },

  async diff(_id, olds: Outputs, news: Inputs) {
    if (!isKnown(news.object)) return { changes: true };
    const named = (object: Identity) => ({ ...object, apiVersion: groupOf(object.apiVersion) });
    if (!isDeepStrictEqual(named(olds.object), named(news.object)))
      return { changes: true, replaces: ["object"] };
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
    if ("silence" in asked) throw new Error(`${resourceName("ObjectReady", props.object)}: ${asked.silence}`);
    if (asked.answer === undefined) return {};
    const { uid, judged } = asked.answer;
    const values = "done" in judged ? judged.done : props.values;
    return { id: id, props: { ...props, uid, ready: "done" in judged, values } };
  },
};
