import { isDeepStrictEqual } from "node:util";
import type { KubernetesClient } from "../../../lib/kubernetes";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { isKnown } from "../../../lib/unknown";
import { relationTo } from "../plan/adoption";
import { changedPaths } from "../plan/fields";
import { apiGroupOf, type Identity, identityText, objectName } from "../plan/identity";
import { expectsSomething, judgeStatus, missingObject, preconditionFault } from "../plan/status";
import { adoptionSteps, type AdoptionStep } from "../plan/steps";
import {
  type AdoptionInputs,
  type AdoptionOutputs,
  appliedOf,
  claimOf,
  decideObject,
  identityOf,
  isOfOthers,
  isSameDesired,
  leftToDo,
  type LiveObject,
  placeIssue,
  type RecordedAdoption,
  waitSteps,
} from "./adoption-inputs";
import { askCluster, installer, isNotServed, isSameObject, siblings, onCluster, withCluster } from "./inputs";

const nameOf = (inputs: AdoptionInputs) => `Adoption ${objectName(identityOf(inputs))}`;

function hasIdentity({ object }: Partial<AdoptionInputs>): boolean {
  const { apiVersion, kind, metadata } = { ...object };
  const named = [apiVersion, kind, metadata?.name];
  return !named.includes(undefined) && isKnown([...named, metadata?.namespace]);
}

/** Returns the inputs with the identity in the state, in a run that leaves the stack's own out (`--target`). */
const withOwner = (olds: RecordedAdoption, news: AdoptionInputs): AdoptionInputs =>
  news.owner?.id === "" && olds.owner !== undefined ? { ...news, owner: olds.owner } : news;

/** Returns why an object is refused that another stack has; undefined for any other. @param olds the resource in the state */
function foreignIssue(
  inputs: AdoptionInputs,
  live: LiveObject | undefined,
  olds: RecordedAdoption,
): string | undefined {
  const relation = relationTo(live?.metadata?.annotations ?? {}, claimOf(inputs, olds));
  if (relation.is !== "foreign" || relation.isNamesake) return undefined;
  return `${objectName(identityOf(inputs))} belongs to ${relation.owner}; ${relation.next}`;
}

/** Returns why a preview refuses an object whose values are not known yet: only what its owner says is looked at. */
async function unknownIssue(inputs: AdoptionInputs, olds: RecordedAdoption): Promise<string | undefined> {
  const ask = (kubernetes: KubernetesClient) => kubernetes.get<LiveObject>(identityOf(inputs));
  // the same program may install the kind, and the run reads the object again
  const asked = await askCluster(inputs, ask).catch(() => undefined);
  return asked && "answer" in asked ? foreignIssue(inputs, asked.answer, olds) : undefined;
}

/** Brings the object to its desired state and waits for its status. */
async function adopt(inputs: AdoptionInputs, olds?: AdoptionOutputs): Promise<AdoptionOutputs> {
  const { ensureObject } = await import("./adoption-work.js");
  const { untilReady } = await import("./object-waits.js");
  let outputs: AdoptionOutputs | undefined;
  if (olds) {
    const { made, uid, values, applied } = olds;
    outputs = { ...inputs, made, uid, ready: false, values, applied };
  }
  const id = identityText(identityOf(inputs));
  const context = { resource: nameOf(inputs), step: "reach the cluster" };
  return onCluster(
    inputs,
    context,
    async (work) => {
      context.step = "ensure the object";
      const { object, made } = await ensureObject(work, inputs, olds);
      const applied = appliedOf(inputs, object);
      outputs = { ...inputs, made, uid: object.metadata?.uid ?? "", ready: false, values: {}, applied };
      work.progress(
        made ? "made by this stack" : "adopted: this stack did not make it, and will not delete it",
      );
      if (!expectsSomething(inputs.wait ?? {})) return { ...outputs, ready: true };
      context.step = "wait for its status";
      const { values } = await untilReady(work, identityOf(inputs), inputs.wait ?? {}, inputs.timeoutSeconds);
      return { ...outputs, ready: true, values };
    },
    { saved: () => outputs && { id, properties: outputs }, installs: inputs },
  );
}

/** Why a run is refused. */
class Refused extends Error {}

/** Returns the steps of a run, from the live object. @throws Refused */
async function plan(
  inputs: AdoptionInputs,
  olds: RecordedAdoption,
): Promise<{ steps: AdoptionStep[]; uid?: string; values?: Record<string, unknown> }> {
  const name = objectName(identityOf(inputs));
  const asked = await askCluster(inputs, async (kubernetes) => {
    const live = await readNamingVersions(kubernetes, identityOf(inputs));
    const others =
      live === undefined && inputs.mustExist ? await siblings(kubernetes, identityOf(inputs)) : [];
    const place = await placeIssue(kubernetes, inputs);
    return { live, others, refused: place ?? (await refusedBy(kubernetes, inputs, live, olds)) };
  });
  if ("silence" in asked)
    return { steps: [{ kind: "ensureUnread", object: name, why: asked.silence }, ...waitSteps(inputs)] };
  const { live, others, refused } = asked.answer;
  const decision = decideObject(inputs, live, olds);
  if (decision.do === "refuse") throw new Refused(`${name} belongs to ${decision.owner}; ${decision.next}`);
  const hasEnded = live === undefined ? inputs.mustExist : decision.do === "wait";
  if (olds.object !== undefined && inputs.ended !== undefined && hasEnded)
    throw new Refused(`${name} ${inputs.ended}`);
  if (live === undefined && inputs.mustExist)
    throw new Refused(missingObject(name, identityOf(inputs).kind, others));
  const fault = preconditionFault(live, isOfOthers(decision) ? inputs.preconditions : []);
  if (fault !== undefined) throw new Refused(`${name} ${fault}`);
  if (refused !== undefined) throw new Refused(refused);
  if (live === undefined) return { steps: [{ kind: "make", object: name }, ...waitSteps(inputs)] };
  const judged = judgeStatus(live, inputs.wait ?? {});
  const uid = decision.do === "wait" ? undefined : live.metadata?.uid;
  return {
    steps: leftToDo(inputs, live, olds),
    ...(uid === undefined ? {} : { uid }),
    ...("done" in judged ? { values: judged.done } : {}),
  };
}

/** Returns why the API server would refuse the write, if a dry run is configured. */
async function refusedBy(
  kubernetes: KubernetesClient,
  inputs: AdoptionInputs,
  live: LiveObject | undefined,
  olds: RecordedAdoption,
): Promise<string | undefined> {
  const isDone = () => live !== undefined && leftToDo(inputs, live, olds).length === 0;
  if (!inputs.dryRun || (live === undefined ? inputs.mustExist : isDone())) return undefined;
  const { dryRunRefusal } = await import("./adoption-work.js");
  const decision = decideObject(inputs, live, olds);
  if (decision.do === "refuse" || decision.do === "wait") return undefined;
  return dryRunRefusal(kubernetes, inputs, live, decision.do === "keep" || (inputs.adopt ?? false));
}

/** @throws KindNotServed with the versions that serve the kind */
async function readNamingVersions(
  kubernetes: KubernetesClient,
  identity: Identity,
): Promise<LiveObject | undefined> {
  try {
    return await kubernetes.get<LiveObject>(identity);
  } catch (error) {
    if (!isNotServed(error)) throw error;
    const { KindNotServed } = await import("../../../lib/kubernetes/index.js");
    const { apiVersion, kind } = identity;
    throw new KindNotServed(
      apiVersion,
      kind,
      await kubernetes.paths.versionsOf(apiGroupOf(apiVersion), kind),
    );
  }
}

export const handlers: Handlers = {
  async check(olds: Partial<AdoptionInputs>, given: AdoptionInputs) {
    const news = withOwner(olds, given);
    const withSteps = (steps: readonly AdoptionStep[], values: object = {}) => ({
      inputs: { ...news, ...values, steps: steps.map(adoptionSteps.format) },
      failures: [],
    });
    if (!hasIdentity(news)) return withSteps([{ kind: "unknown", until: "its name is known" }]);
    if (!isKnown([news.object, news.wait])) {
      const paths = olds.object === undefined ? [] : changedPaths(olds.object, news.object);
      const changed = paths.length === 0 ? {} : { paths: paths.join(", ") };
      const object = objectName(identityOf(news));
      const reason = await unknownIssue(news, olds);
      const failures = reason === undefined ? [] : [{ property: "object", reason }];
      return { ...withSteps([{ kind: "ensure", object, ...changed }, ...waitSteps(news)]), failures };
    }
    const { KubernetesError } = await import("../../../lib/kubernetes/index.js");
    try {
      // uid and values are inputs, so that they are known in a preview
      const { steps, ...values } = await plan(news, olds);
      return withSteps(steps, values);
    } catch (error) {
      const known = isNotServed(error) || error instanceof Refused || error instanceof KubernetesError;
      if (!known) throw error;
      const { message } = error as Error;
      const reason = isNotServed(error) ? `${message}; ${installer(news)} first` : message;
      return { ...withSteps([]), failures: [{ property: "object", reason }] };
    }
  },

  async diff(_id, olds: AdoptionOutputs, news: AdoptionInputs) {
    if (!hasIdentity(news)) return { changes: true };
    if (!isSameObject(identityOf(olds), identityOf(news))) return { changes: true, replaces: ["object"] };
    if (!isKnown([news.object, news.wait]) || !olds.ready || !isSameDesired(olds, news))
      return { changes: true };
    const asked = await askCluster(news, (kubernetes) => kubernetes.get<LiveObject>(identityOf(news)));
    if ("silence" in asked) return { changes: false };
    const live = asked.answer;
    if (live === undefined || live.metadata?.uid !== olds.uid) return { changes: true };
    if (leftToDo(news, live, olds, olds.applied).length > 0) return { changes: true };
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
    const live = await withCluster(props, {}, (kubernetes) =>
      kubernetes.get<LiveObject>(identityOf(props)).catch((error: unknown) => {
        if (!isNotServed(error)) throw error;
      }),
    );
    if (!live) return {};
    const issue = foreignIssue(props, live, props);
    if (issue !== undefined) throw new Error(issue);
    const judged = judgeStatus(live, props.wait ?? {});
    const ready = "done" in judged && live.metadata?.uid === props.uid;
    return { id, props: { ...props, ready, values: "done" in judged ? judged.done : props.values } };
  },

  async delete(_id, olds: AdoptionOutputs) {
    const { releaseObject } = await import("./adoption-work.js");
    await onCluster(olds, { resource: nameOf(olds), step: "release the object" }, async (work) =>
      work.progress(await releaseObject(work, olds)),
    );
  },
};
