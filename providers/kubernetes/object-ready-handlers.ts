import { isDeepStrictEqual } from "node:util";
import { engineSignal } from "../../clients/process/parent-watch";
import { type Identity, groupOf, identityText, objectName } from "../../core/objects/identity";
import { changedPaths } from "../../core/objects/changes";
import { missingObject } from "../../core/objects/precondition";
import { missingFields, type RequiredField } from "../../core/objects/required-fields";
import { judgeStatus, type ObservedObject, type StatusWish } from "../../core/objects/status";
import { describeFailure } from "../failure";
import type { Handlers } from "../handler-types";
import { report } from "../report";
import { isKnown } from "../unknown";
import { waitLine } from "./adoption-inputs";
import { askCluster, connectTo, type ObjectInputs, resourceName } from "./inputs";

interface Inputs extends ObjectInputs {
  object: Identity;
  wait: StatusWish;
  triggers?: unknown[];
  mustExist?: boolean;
  mustHave?: RequiredField[];
  installedBy?: string;
  steps?: string[];
}

interface Outputs extends Inputs {
  uid: string;
  ready: boolean;
  values: Record<string, unknown>;
}

type Live = ObservedObject & { metadata?: { uid?: string } };

async function waitReady(inputs: Inputs): Promise<Outputs> {
  const { untilReady } = await import("./object-waits.js");
  const resource = resourceName("ObjectReady", inputs.object);
  const engine = engineSignal();
  const progress = (line: string) => report(resource, line);
  try {
    const kubernetes = await connectTo(inputs, { signal: engine.signal, progress, readsOnly: true });
    try {
      const waiter = { kubernetes, signal: engine.signal, progress };
      const { uid, values } = await untilReady(waiter, inputs.object, inputs.wait, inputs.timeoutSeconds);
      // the check may have found nobody who answers
      const lacks = inputs.mustHave ? lackReasons(inputs, await kubernetes.get<Live>(inputs.object)) : [];
      if (lacks.length > 0) throw new Error(lacks.join("; "));
      return { ...inputs, uid, ready: true, values };
    } finally {
      kubernetes.close();
    }
  } catch (error) {
    // nothing was changed, so a failed run may simply be run again
    const next = `install ${inputs.installedBy ?? "the definition of this kind"}, then run the same again`;
    const cause =
      error instanceof Error && error.name === "KindNotServed" ? Object.assign(error, { next }) : error;
    throw new Error(describeFailure({ resource, step: "wait for its status" }, cause), { cause: error });
  } finally {
    engine.stop();
  }
}

/** Why an object that has to be there can't be waited for; undefined when it can, or when nobody answers. */
async function missing(inputs: Inputs): Promise<string | undefined> {
  const { KindNotServed } = await import("../../clients/kubernetes/index.js");
  const { namesOf } = await import("./adoption-work.js");
  const { name, kind } = inputs.object;
  try {
    const asked = await askCluster(inputs, (kubernetes) => namesOf(kubernetes, inputs.object));
    if ("silence" in asked || asked.answer.includes(name)) return undefined;
    return missingObject(objectName(inputs.object), kind, asked.answer);
  } catch (error) {
    if (!(error instanceof KindNotServed)) throw error;
    return `${error.message}; install ${inputs.installedBy ?? "the definition of this kind"} first`;
  }
}

/** What the object lacks that it must have, with the mend; none is lacking where it is of use. */
function lackReasons({ object, mustHave = [] }: Inputs, live: unknown): string[] {
  const mend = `let whoever keeps it add it, or name another ${object.kind}`;
  return missingFields(live, mustHave).map((field) => `${objectName(object)} has no ${field}; ${mend}`);
}

/** How the object is now. A kind that is not served has no objects. */
async function look(inputs: Inputs) {
  const { KindNotServed } = await import("../../clients/kubernetes/index.js");
  return askCluster(inputs, async (kubernetes) => {
    try {
      const live = await kubernetes.get<Live>(inputs.object);
      if (live === undefined) return undefined;
      return { uid: live.metadata?.uid ?? "", judged: judgeStatus(live, inputs.wait), live };
    } catch (error) {
      if (error instanceof KindNotServed) return undefined;
      throw error;
    }
  });
}

export const handlers: Handlers = {
  async check(olds: Partial<Outputs>, news: Inputs) {
    if (!isKnown(news.object)) return { inputs: { ...news, steps: [waitLine(news)] }, failures: [] };
    const { KubernetesError } = await import("../../clients/kubernetes/index.js");
    const asked = await look(news).catch((error: unknown) => {
      if (error instanceof KubernetesError) return { refusal: error.message };
      throw error;
    });
    if ("refusal" in asked)
      return { inputs: news, failures: [{ property: "object", reason: asked.refusal }] };
    const name = objectName(news.object);
    const found = "answer" in asked ? asked.answer : undefined;
    const reason =
      news.mustExist && "answer" in asked && found === undefined ? await missing(news) : undefined;
    const lacks = found ? lackReasons(news, found.live) : [];
    const reasons = [...(reason === undefined ? [] : [reason]), ...lacks];
    if (reasons.length > 0) {
      const failures = reasons.map((each) => ({ property: "object", reason: each }));
      return { inputs: { ...news, steps: [] }, failures };
    }
    const judged = found?.judged;
    if (judged && "done" in judged) {
      const changed = olds.values === undefined ? [] : changedPaths(olds.values, judged.done);
      const steps = changed.length === 0 ? [] : [`${name}: take what has changed: ${changed.join(", ")}`];
      // as inputs they are known in a preview
      return { inputs: { ...news, steps, values: judged.done }, failures: [] };
    }
    const steps = [
      `${name}: ${waitLine(news)}${"silence" in asked ? `; not looked at, ${asked.silence}` : ""}`,
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

  create: async (inputs: Inputs) => ({ id: identityText(inputs.object), outs: await waitReady(inputs) }),

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
