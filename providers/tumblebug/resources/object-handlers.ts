import { isDeepStrictEqual } from "node:util";
import { waitFor } from "../../../lib/wait";
import { isRefusal, TumblebugRefusal, type Tumblebug } from "../client";
import { carriesMark, markedDescription } from "../../../lib/pulumi/marks";
import { ReasonedError } from "../plan/reasons";
import { PartialFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { tumblebugNamespaceSteps, tumblebugObjectSteps, type TumblebugObjectStep } from "../plan/steps";
import { image, securityGroup, spec, sshKey, vNet, type ObjectKind } from "./object-kinds";
import type { NamespaceInputs, NamespaceOutputs, ObjectInputs, ObjectOutputs } from "./objects";
import { runStep, withServer } from "./server";

/** Deadline of a deletion: the cloud may need time until an object is no longer in use. */
const DELETE_SECONDS = 300;

/** Creates an object. If another client created it in the meantime, reads that one. */
async function createOrRead<Found>(
  create: () => Promise<Found>,
  read: () => Promise<Found | undefined>,
): Promise<{ found: Found; isNew: boolean }> {
  try {
    return { found: await create(), isNew: true };
  } catch (error) {
    const found = isRefusal(error, "AlreadyExists") ? await read() : undefined;
    if (found === undefined) throw error;
    return { found, isNew: false };
  }
}

/** Reports why an object is not deleted. Returns whether it is kept. */
function isKept(resource: string, { made, keepOnDelete }: { made: boolean; keepOnDelete: boolean }): boolean {
  if (!made) report(resource, "is kept, because this stack did not create it");
  else if (keepOnDelete) report(resource, "is kept, because of `keepOnDelete`");
  return !made || keepOnDelete;
}

/** Returns whether inputs changed that only a later delete needs. */
const hasNewAccess = (olds: Partial<NamespaceInputs>, news: NamespaceInputs): boolean =>
  (["server", "keepOnDelete"] as const).some((key) => !isDeepStrictEqual(olds[key], news[key]));

/**
 * Returns the handlers of one kind of object. They create the object unless it exists, use an existing object of other
 * owners, and delete it only if this stack created it.
 */
function objectHandlers<
  Inputs extends ObjectInputs,
  Desired extends { readonly name: string },
  Found extends { readonly name: string; readonly connection: string; readonly description: string },
>(kind: ObjectKind<Inputs, Desired, Found>): Handlers {
  type Outputs = Inputs & ObjectOutputs;
  const resourceOf = ({ name }: Pick<Inputs, "name">) => `${kind.what} ${name}`;

  const mismatchOf = (inputs: Inputs, found: Found): string | undefined =>
    found.connection === inputs.connection
      ? kind.mismatch?.(inputs, found)
      : `belongs to the connection ${found.connection}`;

  /** Reads or creates the object. Returns it, and whether this stack created it. */
  async function ensure(tumblebug: Tumblebug, inputs: Inputs): Promise<{ found: Found; made: boolean }> {
    const { namespace, name, connection, mark, foreign } = inputs;
    const objects = kind.of(tumblebug);
    if (!objects) {
      if (!kind.unregistered) throw new Error(`the server does not register the kind ${kind.what}`);
      return { found: kind.unregistered.object(inputs), made: false };
    }
    const description = markedDescription(mark);
    const desired = { name, connection, description, ...kind.desired(inputs) } as unknown as Desired;
    const read = () => objects.read(namespace, name);
    const existing = await read();
    if (existing && !objects.keepsDescription)
      // An object without a description belongs to an interrupted run if the plan recorded it as missing.
      return { found: existing, made: !foreign && mismatchOf(inputs, existing) === undefined };
    if (existing) return { found: existing, made: carriesMark(existing.description, mark) };
    try {
      const { found, isNew } = await createOrRead(() => objects.create(namespace, desired), read);
      return { found, made: isNew || carriesMark(found.description, mark) };
    } catch (error) {
      throw new ReasonedError(
        kind.reason,
        error instanceof Error ? error.message : String(error),
        error instanceof TumblebugRefusal ? error.next : undefined,
      );
    }
  }

  const outputsOf = (inputs: Inputs, found: Found, made: boolean) =>
    ({ ...inputs, ...kind.outputs?.(found), object: found.name, made }) as unknown as Outputs;

  function creationOf(inputs: Inputs): TumblebugObjectStep {
    const { name, connection } = inputs;
    if (kind.unregistered?.generation === inputs.server.generation)
      return { kind: "useUnregistered", image: kind.unregistered.image(inputs) };
    if (inputs.foreign) return { kind: "use", what: kind.what, name };
    return { kind: "create", what: kind.what, name, connection, properties: kind.describe(inputs) };
  }

  return {
    check(olds: Partial<Outputs>, asked: Inputs) {
      const news = kind.complete?.(olds, asked) ?? asked;
      const exists = olds.name === news.name && olds.connection !== undefined;
      const steps = exists ? (kind.changes?.(olds as unknown as Inputs, news) ?? []) : [creationOf(news)];
      const fixed = kind.fixed.filter((key) => exists && !isDeepStrictEqual(olds[key], news[key]));
      const failures = fixed.map((property) => ({
        property,
        reason:
          `the ${kind.what} ${news.name} has ${property} ${JSON.stringify(olds[property])} and can't change while machines use it; ` +
          "set it back, or use another `resources.prefix` for a new cluster",
      }));
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
        hasNewAccess(olds, news);
      return Promise.resolve({ changes, replaces });
    },

    create(inputs: Inputs) {
      const resource = resourceOf(inputs);
      return runStep({ resource, step: "create" }, inputs.server, async (tumblebug) => {
        const { found, made } = await ensure(tumblebug, inputs);
        const mismatch = made ? undefined : mismatchOf(inputs, found);
        if (mismatch !== undefined)
          throw new ReasonedError(
            kind.reason,
            `the ${kind.what} ${found.name} exists, this stack did not create it, and it ${mismatch}`,
            "use another `resources.prefix`, or delete it",
          );
        if (!made && kind.of(tumblebug)) report(resource, "exists; it is kept when the cluster is deleted");
        return { id: `${inputs.namespace}/${found.name}`, outs: outputsOf(inputs, found, made) };
      });
    },

    async update(id, olds: Outputs, news: Inputs) {
      if (!kind.change || (news.steps ?? []).length === 0) return { outs: { ...olds, ...news } };
      const resource = resourceOf(news);
      try {
        return await withServer(resource, news.server, async (tumblebug) => {
          const objects = kind.of(tumblebug);
          const found = await objects?.read(news.namespace, olds.object);
          if (!objects || !found) throw new Error("it no longer exists; run `pulumi refresh`, then `up`");
          if (!olds.made) report(resource, "is not changed, because this stack did not create it");
          else await kind.change?.(tumblebug, news, olds, found);
          const now = (await objects.read(news.namespace, olds.object)) ?? found;
          return { outs: outputsOf(news, now, olds.made) };
        });
      } catch (error) {
        throw new PartialFailure(id, olds, { resource, step: "update" }, error);
      }
    },

    read: (id, outputs: Outputs) =>
      withServer(resourceOf(outputs), outputs.server, async (tumblebug) => {
        const objects = kind.of(tumblebug);
        if (!objects) return { id, props: outputs };
        const found = await objects.read(outputs.namespace, outputs.object);
        if (!found) return { id: "", props: {} };
        const drift = outputs.made ? kind.drift?.(outputs, found) : {};
        return { id, props: { ...outputs, ...kind.outputs?.(found), ...drift } };
      }),

    async delete(_id, outputs: Outputs) {
      const { made, server, namespace, object } = outputs;
      const resource = resourceOf(outputs);
      if (!made && kind.unregistered?.generation === server.generation) return;
      if (isKept(resource, outputs)) return;
      await runStep({ resource, step: "delete" }, server, (tumblebug, signal) =>
        waitFor<true>({
          what: `the ${kind.what} ${object} to be deleted`,
          seconds: DELETE_SECONDS,
          signal,
          progress: (line) => report(resource, line),
          probe: async () => {
            try {
              const objects = kind.of(tumblebug);
              if (objects) await objects.delete(namespace, object);
              else report(resource, "is not registered on this server, so nothing is deleted");
              return { done: true };
            } catch (error) {
              if (isRefusal(error, "InUse", "DeletionPending")) return { pending: error.message };
              throw error;
            }
          },
        }),
      );
    },
  };
}

const namespaceName = ({ name }: NamespaceInputs) => `namespace ${name}`;

const namespace: Handlers = {
  check(olds: Partial<NamespaceOutputs>, news: NamespaceInputs) {
    const kind = news.foreign ? "use" : "create";
    const step = tumblebugNamespaceSteps.format({ kind, name: news.name });
    const steps = olds.name === news.name ? [] : [step];
    return Promise.resolve({ inputs: { ...news, steps }, failures: [] });
  },

  diff(_id, olds: NamespaceOutputs, news: NamespaceInputs) {
    const replaces = olds.name === news.name ? [] : ["name"];
    return Promise.resolve({ changes: replaces.length > 0 || hasNewAccess(olds, news), replaces });
  },

  create(inputs: NamespaceInputs) {
    const { name, mark, server } = inputs;
    return runStep({ resource: namespaceName(inputs), step: "create" }, server, async ({ namespaces }) => {
      const read = () => namespaces.read(name);
      const existing = await read();
      const { found, isNew } = existing
        ? { found: existing, isNew: false }
        : await createOrRead(() => namespaces.create({ name, description: markedDescription(mark) }), read);
      return { id: name, outs: { ...inputs, made: isNew || carriesMark(found.description, mark) } };
    });
  },

  update: (_id, olds: NamespaceOutputs, news: NamespaceInputs) =>
    Promise.resolve({ outs: { ...olds, ...news } }),

  read: (id, outputs: NamespaceOutputs) =>
    withServer(namespaceName(outputs), outputs.server, async ({ namespaces }) =>
      (await namespaces.read(outputs.name)) ? { id, props: outputs } : { id: "", props: {} },
    ),

  async delete(_id, outputs: NamespaceOutputs) {
    const resource = namespaceName(outputs);
    if (isKept(resource, outputs)) return;
    await runStep({ resource, step: "delete" }, outputs.server, async ({ namespaces }) => {
      try {
        await namespaces.delete(outputs.name);
      } catch (error) {
        // Objects of other owners in the namespace are kept.
        if (!isRefusal(error, "InUse")) throw error;
        report(resource, `is kept: ${error.message}`);
      }
    });
  },
};

/** The handlers of every kind of object, by resource type. */
export const handlers = {
  TumblebugNamespace: namespace,
  TumblebugVNet: objectHandlers(vNet),
  TumblebugSecurityGroup: objectHandlers(securityGroup),
  TumblebugSshKey: objectHandlers(sshKey),
  TumblebugImage: objectHandlers(image),
  TumblebugSpec: objectHandlers(spec),
};
