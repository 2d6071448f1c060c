import { isDeepStrictEqual } from "node:util";
import type { KubernetesClient } from "../../../lib/kubernetes";
import { engineSignal } from "../../../lib/process/parent-watch";
import { decideAdoption } from "../plan/adoption";
import { changedPaths } from "../plan/fields";
import { groupOf, type Identity, identityText, objectName } from "../plan/identity";
import { missingObject, preconditionFault } from "../plan/requirements";
import { adoptionSteps, type AdoptionStep } from "../plan/steps";
import { judgeStatus, expectsSomething } from "../plan/status";
import { describeFailure, PartialFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { isKnown } from "../../../lib/unknown";
import {
  type AdoptionInputs,
  type AdoptionOutputs,
  appliedOf,
  isSameDesired,
  identityOf,
  leftToDo,
  type LiveObject,
  waitOf,
} from "./adoption-inputs";
import { askCluster, connectTo, resourceName } from "./inputs";

const nameOf = (inputs: AdoptionInputs) => resourceName("Adoption", identityOf(inputs));

function hasIdentity({ object }: Partial<AdoptionInputs>): boolean {
  const identity = [object?.apiVersion, object?.kind, object?.metadata?.name, object?.metadata?.namespace];
  return (
    object !== undefined && identity.slice(0, 3).every((part) => part !== undefined) && isKnown(identity)
  );
}

/** Brings the object to its desired state and waits for its status. */
async function adopt(inputs: AdoptionInputs, olds?: AdoptionOutputs): Promise<AdoptionOutputs> {
  const { ensureObject } = await import("./adoption-work.js");
  const { untilReady } = await import("./object-waits.js");
  const resource = nameOf(inputs);
  const engine = engineSignal();
  const progress = (line: string) => report(resource, line);
  let step = "reach the cluster";
  let outputs: AdoptionOutputs | undefined = olds && { ...inputs, ...stateOf(olds), ready: false };
  try {
    const kubernetes = await connectTo(inputs, { signal: engine.signal, progress });
    try {
      step = "ensure the object";
      const work = { kubernetes, signal: engine.signal, progress };
      const known = olds && { uid: olds.uid, made: olds.made };
      const { object, made } = await ensureObject(work, inputs, known);
      const applied = appliedOf(inputs, object);
      outputs = { ...inputs, made, uid: object.metadata?.uid ?? "", ready: false, values: {}, applied };
      progress(made ? "made by this stack" : "adopted: this stack did not make it, and will not delete it");
      if (!expectsSomething(inputs.wait ?? {})) return { ...outputs, ready: true };
      step = "wait for its status";
      const { values } = await untilReady(work, identityOf(inputs), inputs.wait ?? {}, inputs.timeoutSeconds);
      return { ...outputs, ready: true, values };
    } finally {
      kubernetes.close();
    }
  } catch (error) {
    const context = { resource, step };
    const cause = withInstaller(error, inputs);
    if (outputs === undefined) throw new Error(describeFailure(context, cause), { cause: error });
    throw new PartialFailure(identityText(identityOf(inputs)), outputs, context, cause);
  } finally {
    engine.stop();
  }
}

/** Adds what installs a kind that is not served. */
function withInstaller(error: unknown, { installedBy }: AdoptionInputs): unknown {
  if (!(error instanceof Error) || error.name !== "KindNotServed") return error;
  return Object.assign(error, {
    next: `install ${installedBy ?? "the definition of this kind"}, then run the same again`,
  });
}

function stateOf({ made, uid, ready, values, applied }: AdoptionOutputs) {
  return { made, uid, ready, values, applied };
}

/** Returns the steps of a run, from the live object; or why the run is refused. */
async function plan(
  inputs: AdoptionInputs,
  isRecorded: boolean,
): Promise<
  | { steps: AdoptionStep[]; uid?: string; values?: Record<string, unknown> }
  | { property: string; refusal: string }
> {
  const { KindNotServed, KubernetesError } = await import("../../../lib/kubernetes/index.js");
  const name = objectName(identityOf(inputs));
  try {
    const asked = await askCluster(inputs, async (kubernetes) => {
      const live = await readNamingVersions(kubernetes, identityOf(inputs));
      const others = live === undefined && inputs.mustExist ? await namesIn(kubernetes, inputs) : [];
      return { live, others, refused: await refusedBy(kubernetes, inputs, live) };
    });
    if ("silence" in asked)
      return { steps: [{ kind: "ensureUnread", object: name, why: asked.silence }, ...waits(inputs)] };
    const { owners = [], adopt: takes = false, stack } = inputs;
    const { live, others, refused } = asked.answer;
    const decision = decideAdoption(live, { stack, owners, adopt: takes });
    if (decision.do === "refuse")
      return {
        property: "object",
        refusal: `${name} belongs to ${decision.owner}; leave it to its owner, or take it over with \`adopt: true\``,
      };
    const hasEnded = live === undefined ? inputs.mustExist : decision.do === "wait";
    if (isRecorded && inputs.ended !== undefined && hasEnded)
      return { property: "object", refusal: `${name} ${inputs.ended}` };
    if (live === undefined && inputs.mustExist)
      return { property: "object", refusal: missingObject(name, identityOf(inputs).kind, others) };
    const fault = decision.do === "adopt" ? preconditionFault(live, inputs.preconditions ?? []) : undefined;
    if (fault !== undefined) return { property: "object", refusal: `${name} ${fault}` };
    if (refused !== undefined) return { property: "object", refusal: refused };
    if (live === undefined) return { steps: [{ kind: "make", object: name }, ...waits(inputs)] };
    const judged = judgeStatus(live, inputs.wait ?? {});
    const uid = decision.do === "wait" ? undefined : live.metadata?.uid;
    return {
      steps: leftToDo(inputs, live),
      ...(uid === undefined ? {} : { uid }),
      ...("done" in judged ? { values: judged.done } : {}),
    };
  } catch (error) {
    if (error instanceof KindNotServed)
      return {
        property: "object",
        refusal: `${error.message}; install ${inputs.installedBy ?? "the definition of this kind"} first`,
      };
    if (error instanceof KubernetesError) return { property: "object", refusal: error.message };
    throw error;
  }
}

/** Returns why the API server would refuse the write, if a dry run is configured. */
async function refusedBy(
  kubernetes: KubernetesClient,
  inputs: AdoptionInputs,
  live: LiveObject | undefined,
): Promise<string | undefined> {
  if (!inputs.dryRun || (live === undefined ? inputs.mustExist : leftToDo(inputs, live).length === 0))
    return undefined;
  const { dryRunRefusal } = await import("./adoption-work.js");
  const { owners = [], adopt: takes = false, stack } = inputs;
  const decision = decideAdoption(live, { stack, owners, adopt: takes });
  if (decision.do === "refuse" || decision.do === "wait") return undefined;
  return dryRunRefusal(kubernetes, inputs, live, decision.do === "keep" || takes);
}

/** @throws KindNotServed with the versions that serve the kind */
async function readNamingVersions(
  kubernetes: KubernetesClient,
  identity: Identity,
): Promise<LiveObject | undefined> {
  try {
    return await kubernetes.get<LiveObject>(identity);
  } catch (error) {
    const { KindNotServed } = await import("../../../lib/kubernetes/index.js");
    if (!(error instanceof KindNotServed)) throw error;
    const { apiVersion, kind } = identity;
    throw new KindNotServed(apiVersion, kind, await kubernetes.versionsOf(groupOf(apiVersion), kind));
  }
}

async function namesIn(kubernetes: KubernetesClient, inputs: AdoptionInputs): Promise<string[]> {
  const { namesOf } = await import("./adoption-work.js");
  return namesOf(kubernetes, identityOf(inputs));
}

const waits = (inputs: AdoptionInputs): AdoptionStep[] =>
  expectsSomething(inputs.wait ?? {}) ? [{ kind: "wait", ...waitOf(inputs) }] : [];

export const handlers: Handlers = {
  async check(olds: Partial<AdoptionInputs>, news: AdoptionInputs) {
    const withSteps = (steps: readonly AdoptionStep[], values: object = {}) => ({
      inputs: { ...news, ...values, steps: steps.map(adoptionSteps.format) },
      failures: [],
    });
    if (!hasIdentity(news)) return withSteps([{ kind: "unknown", until: "its name is known" }]);
    if (!isKnown(news.object)) {
      const paths = olds.object === undefined ? [] : changedPaths(olds.object, news.object);
      const changed = paths.length === 0 ? {} : { paths: paths.join(", ") };
      const object = objectName(identityOf(news));
      return withSteps([{ kind: "ensure", object, ...changed }, ...waits(news)]);
    }
    const planned = await plan(news, olds.object !== undefined);
    // uid and values are inputs, so that they are known in a preview
    if ("steps" in planned) {
      const { steps, ...values } = planned;
      return withSteps(steps, values);
    }
    const { property, refusal } = planned;
    return { ...withSteps([]), failures: [{ property, reason: refusal }] };
  },

  async diff(_id, olds: AdoptionOutputs, news: AdoptionInputs) {
    if (!hasIdentity(news)) return { changes: true };
    const [before, after] = [identityOf(olds), identityOf(news)];
    const isSame = (one: typeof before) => ({ ...one, apiVersion: groupOf(one.apiVersion) });
    if (!isDeepStrictEqual(isSame(before), isSame(after))) return { changes: true, replaces: ["object"] };
    if (!isKnown(news.object) || !olds.ready || !isSameDesired(olds, news)) return { changes: true };
    const asked = await askCluster(news, (kubernetes) => kubernetes.get<LiveObject>(after));
    if ("silence" in asked) return { changes: false };
    const live = asked.answer;
    if (live === undefined || live.metadata?.uid !== olds.uid) return { changes: true };
    if (leftToDo(news, live, olds.applied).length > 0) return { changes: true };
    const judged = judgeStatus(live, news.wait ?? {});
    return { changes: !("done" in judged) || !isDeepStrictEqual(judged.done, olds.values) };
  },

  async create(inputs: AdoptionInputs) {
    return { id: identityText(identityOf(inputs)), outs: await adopt(inputs) };
  },

  async update(_id, olds: AdoptionOutputs, news: AdoptionInputs) {
    return { outs: await adopt(news, olds) };
  },

  async read(id, props: AdoptionOutputs) {
    const kubernetes = await connectTo(props);
    try {
      const live = await kubernetes.get<LiveObject>(identityOf(props)).catch((error: unknown) => {
        if (error instanceof Error && error.name === "KindNotServed") return undefined;
        throw error;
      });
      if (live === undefined) return {};
      const judged = judgeStatus(live, props.wait ?? {});
      const isSame = live.metadata?.uid === props.uid;
      const ready = "done" in judged && isSame;
      const values = "done" in judged ? judged.done : props.values;
      return { id: id, props: { ...props, ready, values } };
    } finally {
      kubernetes.close();
    }
  },

  async delete(_id, olds: AdoptionOutputs) {
    const { releaseObject } = await import("./adoption-work.js");
    const resource = nameOf(olds);
    const engine = engineSignal();
    const progress = (line: string) => report(resource, line);
    try {
      const kubernetes = await connectTo(olds, { signal: engine.signal, progress });
      try {
        progress(await releaseObject({ kubernetes, signal: engine.signal, progress }, olds, olds.uid));
      } finally {
        kubernetes.close();
      }
    } catch (error) {
      throw new Error(describeFailure({ resource, step: "release the object" }, error), { cause: error });
    } finally {
      engine.stop();
    }
  },
};
