import { isDeepStrictEqual } from "node:util";
import { waitFor } from "../../../lib/wait";
import { isRefusal, TumblebugRefusal, type Tumblebug } from "../client";
import { carriesMark, markedDescription } from "../../../lib/pulumi/marks";
import { ReasonedError } from "../plan/reasons";
import { describeFailure, PartialFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { tumblebugObjectSteps, type TumblebugObjectStep } from "../plan/steps";
import type { ObjectInputs, ObjectKind, ObjectOutputs } from "./object-kind";
import { withServer } from "./server";

/** Deadline of a deletion: the cloud may need time until an object is no longer in use. */
const DELETE_SECONDS = 300;

interface Found {
  readonly name: string;
  readonly connection: string;
  readonly description: string;
}

/**
 * Returns the handlers of one kind of object. They create the object unless it exists, use an existing object of other
 * owners, and delete it only if this stack created it.
 */
export function objectHandlers<
  Inputs extends ObjectInputs,
  Wish extends { readonly name: string },
  Object extends Found,
>(kind: ObjectKind<Inputs, Wish, Object>): Handlers {
  type Outputs = Inputs & ObjectOutputs;
  const resourceOf = ({ name }: Pick<Inputs, "name">) => `${kind.what} ${name}`;

  const isTagged = (found: Object, { mark }: Inputs): boolean => carriesMark(found.description, mark);

  /** Reads or creates the object. Returns it, and whether this stack created it. */
  async function ensure(tumblebug: Tumblebug, inputs: Inputs): Promise<{ found: Object; made: boolean }> {
    const objects = kind.of(tumblebug);
    if (!objects) {
      if (!kind.unregistered) throw new Error(`the server keeps no ${kind.what}`);
      return { found: kind.unregistered.object(inputs), made: false };
    }
    const desired = kind.wish(inputs, markedDescription(inputs.mark));
    const existing = await objects.read(inputs.namespace, desired.name);
    if (existing) {
      // Objects without a description belong to an interrupted run if the plan recorded them as missing.
      const isMissed = !inputs.foreign && kind.mismatch?.(inputs, existing) === undefined;
      return { found: existing, made: objects.keepsDescription ? isTagged(existing, inputs) : isMissed };
    }
    try {
      return { found: await objects.create(inputs.namespace, desired), made: true };
    } catch (error) {
      // Another client created it in the meantime.
      const now = isRefusal(error, "AlreadyExists")
        ? await objects.read(inputs.namespace, desired.name)
        : undefined;
      if (now) return { found: now, made: isTagged(now, inputs) };
      throw reasoned(error);
    }
  }

  const reasoned = (error: unknown) =>
    new ReasonedError(
      kind.reason,
      error instanceof Error ? error.message : String(error),
      error instanceof TumblebugRefusal ? error.next : undefined,
    );

  const outputsOf = (inputs: Inputs, found: Object, made: boolean) =>
    ({ ...inputs, ...kind.outputs(found), object: found.name, made }) as unknown as Outputs;

  function creationOf(inputs: Inputs): TumblebugObjectStep {
    const { name, connection } = inputs;
    if (kind.unregistered?.generation === inputs.server.generation)
      return { kind: "useUnregistered", image: kind.unregistered.image(inputs) };
    if (inputs.foreign) return { kind: "use", what: kind.what, name };
    return { kind: "create", what: kind.what, name, connection, properties: kind.describe(inputs) };
  }

  return {
    check(olds: Partial<Outputs>, asked: Inputs) {
      const news = kind.settle ? kind.settle(olds, asked) : asked;
      const exists = olds.name === news.name && olds.connection !== undefined;
      const steps = exists ? (kind.changes?.(olds as unknown as Inputs, news) ?? []) : [creationOf(news)];
      const failures = exists
        ? kind.fixed.flatMap((key) =>
            isDeepStrictEqual(olds[key], news[key])
              ? []
              : [
                  {
                    property: key,
                    reason:
                      `the ${kind.what} ${news.name} has ${key} ${JSON.stringify(olds[key])} and can't change while machines use it; ` +
                      "set it back, or take another `resources.prefix` for a new cluster",
                  },
                ],
          )
        : [];
      const lines = steps.map(tumblebugObjectSteps.format);
      return Promise.resolve({ inputs: { ...news, steps: lines }, failures });
    },

    diff(_id, olds: Outputs, news: Inputs) {
      const replaces = (["namespace", "name", "connection"] as const).filter(
        (key) => olds[key] !== news[key],
      );
      const changes =
        replaces.length > 0 ||
        (news.steps ?? []).length > 0 ||
        kind.hasDrifted?.(olds) === true ||
        // A later delete needs these.
        (["server", "keepOnDelete"] as const).some((key) => !isDeepStrictEqual(olds[key], news[key]));
      return Promise.resolve({ changes, replaces });
    },

    async create(inputs: Inputs) {
      const resource = resourceOf(inputs);
      try {
        return await withServer(resource, inputs.server, async (tumblebug) => {
          const { found, made } = await ensure(tumblebug, inputs);
          const wrong = made ? undefined : kind.mismatch?.(inputs, found);
          if (wrong !== undefined)
            throw new ReasonedError(
              kind.reason,
              `the ${kind.what} ${found.name} is there, made by others, and ${wrong}`,
              "take another `resources.prefix`, or delete it",
            );
          if (!made && kind.of(tumblebug)) report(resource, "was there; it stays when the cluster goes");
          return { id: `${inputs.namespace}/${found.name}`, outs: outputsOf(inputs, found, made) };
        });
      } catch (error) {
        throw new Error(describeFailure({ resource, step: "create" }, error), { cause: error });
      }
    },

    async update(id, olds: Outputs, news: Inputs) {
      const kept = { ...olds, ...news };
      if (!kind.change || (news.steps ?? []).length === 0) return { outs: kept };
      const resource = resourceOf(news);
      try {
        return await withServer(resource, news.server, async (tumblebug) => {
          const objects = kind.of(tumblebug);
          const found = await objects?.read(news.namespace, olds.object);
          if (!objects || !found)
            throw new Error("it is not there any more; run `pulumi refresh`, then `up`");
          if (!olds.made) report(resource, "others made it, so it is left as it is");
          else await kind.change?.(tumblebug, news, olds, found);
          const now = (await objects.read(news.namespace, olds.object)) ?? found;
          return { outs: outputsOf(news, now, olds.made) };
        });
      } catch (error) {
        throw new PartialFailure(id, olds, { resource, step: "update" }, error);
      }
    },

    async read(id, outputs: Outputs) {
      return withServer(resourceOf(outputs), outputs.server, async (tumblebug) => {
        const objects = kind.of(tumblebug);
        if (!objects) return { id, props: outputs };
        const found = await objects.read(outputs.namespace, outputs.object);
        if (!found) return { id: "", props: {} };
        const drift = outputs.made ? kind.drift?.(outputs, found) : {};
        return { id, props: { ...outputs, ...kind.outputs(found), ...drift } };
      });
    },

    async delete(_id, outputs: Outputs) {
      const resource = resourceOf(outputs);
      if (!outputs.made || outputs.keepOnDelete) {
        if (kind.unregistered?.generation !== outputs.server.generation)
          report(resource, outputs.made ? "stays, as keepOnDelete says" : "stays, since others made it");
        return;
      }
      try {
        await withServer(resource, outputs.server, (tumblebug, signal) =>
          waitFor<true>({
            what: `the ${kind.what} ${outputs.object} to be deleted`,
            seconds: DELETE_SECONDS,
            signal,
            progress: (line) => report(resource, line),
            probe: async () => {
              try {
                const objects = kind.of(tumblebug);
                if (objects) await objects.delete(outputs.namespace, outputs.object);
                else report(resource, "is not registered on this server, so nothing is deleted");
                return { done: true };
              } catch (error) {
                if (isRefusal(error, "InUse", "DeletionPending"))
                  return { pending: (error as Error).message };
                throw error;
              }
            },
          }),
        );
      } catch (error) {
        throw new Error(describeFailure({ resource, step: "delete" }, error), { cause: error });
      }
    },
  };
}
