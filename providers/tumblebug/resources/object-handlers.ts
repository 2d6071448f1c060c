import { isDeepStrictEqual } from "node:util";
import { waitFor } from "../../../lib/wait";
import { isRefusal, type FoundRecord, type Objects, type Tumblebug } from "../client";
import { carriesMark, markedDescription } from "../../../lib/pulumi/marks";
import type { Generation } from "../plan/model";
import { ReasonedError, type Reason } from "../plan/reasons";
import { rulesFor, rulesNotIn, ruleWords, type ExplainedRule } from "../plan/security-rules";
import { PartialFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { tumblebugNamespaceSteps, tumblebugObjectSteps, type TumblebugObjectStep } from "../plan/steps";
import type {
  ImageInputs,
  NamespaceInputs,
  NamespaceOutputs,
  CloudObjectInputs,
  ObjectOutputs,
  SecurityGroupInputs,
  SpecInputs,
  SshKeyInputs,
  VNetInputs,
} from "./declarations";
import { reportKept } from "./kept-object";
import { runStep, withServer } from "./server";

/** Specifics of one kind of object. */
interface ObjectKind<Inputs extends CloudObjectInputs, Answer extends FoundObject> {
  /** Name of the kind in messages: "vNet". */
  what: Extract<TumblebugObjectStep, { kind: "create" }>["what"];
  /** CB-Ladybug's reason code if the creation fails. */
  reason: Reason;
  /** Returns the client's calls; undefined if the server's generation does not register this kind. */
  of(tumblebug: Tumblebug): Objects<Inputs, Answer> | undefined;
  /** The generation that does not register this kind, and the name that is used there instead. */
  unregistered?: { generation: Generation; name(inputs: Inputs): string };
  /** Returns the properties of the object for the preview's line. */
  describe(inputs: Inputs): string;
  /** Returns outputs that are only known from the created object. */
  outputs?(found: Answer): object;
  /** Returns the drift that a refresh records, for an object that this stack created. */
  drift?(outputs: Inputs, found: Answer): object;
  hasDrifted?(outputs: Inputs): boolean;
  /** Returns why an existing object of other owners, of the same connection, can't be used; undefined if it can. */
  mismatch?(inputs: Inputs, found: Answer): string | undefined;
  /** Inputs besides the name that can't change while the object exists. */
  fixed: readonly (keyof Inputs & string)[];
  /** Completes the inputs with values that were chosen at creation. */
  complete?(olds: Partial<Inputs>, news: Inputs): Inputs;
  /** Returns the changes of an object that this stack created. */
  changes?(olds: Inputs, news: Inputs): TumblebugObjectStep[];
  change?(tumblebug: Tumblebug, inputs: Inputs, before: Inputs, found: Answer): Promise<void>;
}

type FoundObject = Pick<FoundRecord<"sshKeys">, "name" | "connection" | "description">;

const vNet: ObjectKind<VNetInputs, FoundRecord<"vNets">> = {
  what: "vNet",
  reason: "CreateVpcFailedReason",
  of: ({ vNets }) => vNets,
  describe: ({ cidr }) => cidr,
  // An existing VNet of other owners may have subnets with other names: the first one is used.
  outputs: ({ subnets: [first] }) => (first === undefined ? {} : { subnet: first.name }),
  mismatch({ cidr }, found) {
    if (found.subnets.length === 0) return "has no subnet";
    return found.cidr === cidr
      ? undefined
      : `has the block ${found.cidr}: set \`cidr: ${found.cidr}\` for the connection`;
  },
  fixed: ["cidr"],
  complete: (olds, news) =>
    olds.name === news.name && olds.cidr !== undefined && !news.cidrWritten
      ? { ...news, cidr: olds.cidr }
      : news,
};

const securityGroup: ObjectKind<SecurityGroupInputs, FoundRecord<"securityGroups">> = {
  what: "securityGroup",
  reason: "CreateSecurityGroupFailedReason",
  of: ({ securityGroups }) => securityGroups,
  describe: ({ rules }) => rules.map(ruleWords).join("; "),
  outputs: ({ rules }) => ({ there: rules, gone: [] }),
  drift: ({ there = [] }, { rules }) => ({ there, gone: rulesNotIn(rules, there) }),
  hasDrifted: ({ gone = [] }) => gone.length > 0,
  fixed: [],
  complete: (_olds, news) => ({ ...news, rules: rulesFor(news.provider ?? "", news.rules) }),
  changes(olds, { name, rules, gone = [] }) {
    const opened = rulesNotIn(olds.rules, rules);
    const closed = rulesNotIn(rules, olds.rules);
    const again = rulesNotIn([...opened, ...rulesNotIn(gone, rules)], rules);
    const steps = (kind: "open" | "reopen" | "close", some: readonly ExplainedRule[]) =>
      some.map((rule) => ({ kind, name, rule: ruleWords(rule) }));
    return [...steps("reopen", again), ...steps("open", opened), ...steps("close", closed)];
  },
  async change({ securityGroups }, { namespace, name, rules }, before, found) {
    // Compares with the server's current rules, to continue an interrupted run; rules of others are kept.
    const opened = rulesNotIn(found.rules, rules);
    const closed = rulesNotIn(rules, before.rules);
    const present = rulesNotIn(rulesNotIn(found.rules, closed), closed);
    if (opened.length > 0) await securityGroups.addRules(namespace, found.name, opened);
    if (present.length > 0) await securityGroups.removeRules(namespace, found.name, present);
    report(`securityGroup ${name}`, `${opened.length} rules opened, ${present.length} closed`);
  },
};

const sshKey: ObjectKind<SshKeyInputs, FoundRecord<"sshKeys">> = {
  what: "sshKey",
  reason: "CreateSSHKeyFailedReason",
  of: ({ sshKeys }) => sshKeys,
  describe: ({ user }) => `for ${user}`,
  outputs: ({ privateKey, publicKey, fingerprint }) => ({ privateKey, publicKey, fingerprint }),
  mismatch: (_inputs, { privateKey }) =>
    privateKey === "" ? "the server does not return its private key" : undefined,
  fixed: ["user"],
};

const cloudMismatch = (desired: string, found: string): string | undefined =>
  found === desired ? undefined : `is "${found}" in the cloud, not "${desired}"`;

const image: ObjectKind<ImageInputs, FoundRecord<"images">> = {
  what: "image",
  reason: "CreateVmImageFailedReason",
  of: ({ images }) => images,
  unregistered: { generation: "infra", name: ({ cloudImage }) => cloudImage },
  describe: ({ cloudImage }) => cloudImage,
  mismatch: ({ cloudImage }, found) => cloudMismatch(cloudImage, found.cloudImage),
  fixed: ["cloudImage"],
};

const spec: ObjectKind<SpecInputs, FoundRecord<"specs">> = {
  what: "spec",
  reason: "CreateVmSpecFailedReason",
  of: ({ specs }) => specs,
  describe: ({ cloudSpec }) => cloudSpec,
  mismatch: ({ cloudSpec }, found) => cloudMismatch(cloudSpec, found.cloudSpec),
  fixed: ["cloudSpec"],
};

/** Deadline of a deletion: the cloud may need time until an object is no longer in use. */
const DELETE_SECONDS = 300;

/** Creates an object. If another client created it in the meantime, reads that one. */
async function createOrRead<Answer>(
  create: () => Promise<Answer>,
  read: () => Promise<Answer | undefined>,
): Promise<{ found: Answer; isNew: boolean }> {
  try {
    return { found: await create(), isNew: true };
  } catch (error) {
    const found = isRefusal(error, "AlreadyExists") ? await read() : undefined;
    if (found === undefined) throw error;
    return { found, isNew: false };
  }
}

/** Returns whether inputs changed that only a later delete needs. */
const hasNewAccess = (olds: Partial<NamespaceInputs>, news: NamespaceInputs): boolean =>
  (["server", "keepOnDelete"] as const).some((key) => !isDeepStrictEqual(olds[key], news[key]));

/**
 * Returns the handlers of one kind of object. They create the object unless it exists, use an existing object of other
 * owners, and delete it only if this stack created it.
 */
function objectHandlers<Inputs extends CloudObjectInputs, Answer extends FoundObject>(
  kind: ObjectKind<Inputs, Answer>,
): Handlers {
  type Outputs = Inputs & ObjectOutputs;
  const { what, unregistered } = kind;
  const resourceOf = ({ name }: Pick<Inputs, "name">) => `${what} ${name}`;

  const mismatchOf = (inputs: Inputs, found: Answer): string | undefined =>
    found.connection === inputs.connection
      ? kind.mismatch?.(inputs, found)
      : `belongs to the connection ${found.connection}`;

  /** Reads or creates the object. Returns it, and whether this stack created it. */
  async function ensure(objects: Objects<Inputs, Answer>, inputs: Inputs) {
    const { namespace, name, mark, foreign } = inputs;
    const read = () => objects.read(namespace, name);
    const existing = await read();
    if (existing && !objects.keepsDescription)
      // An object without a description belongs to an interrupted run if the plan recorded it as missing.
      return { found: existing, made: !foreign && mismatchOf(inputs, existing) === undefined };
    if (existing) return { found: existing, made: carriesMark(existing.description, mark) };
    const create = () => objects.create(namespace, { ...inputs, description: markedDescription(mark) });
    const { found, isNew } = await createOrRead(create, read).catch((error: unknown) => {
      throw ReasonedError.from(kind.reason, error);
    });
    return { found, made: isNew || carriesMark(found.description, mark) };
  }

  /** Returns whether an object was deleted by others, and made again by others. */
  async function hasOtherOwner(objects: Objects<Inputs, Answer>, outputs: Outputs): Promise<boolean> {
    if (!objects.keepsDescription) return false;
    const found = await objects.read(outputs.namespace, outputs.object);
    return found !== undefined && !carriesMark(found.description, outputs.mark);
  }

  function creationOf(inputs: Inputs): TumblebugObjectStep {
    const { name, connection } = inputs;
    if (unregistered?.generation === inputs.server.generation)
      return { kind: "useUnregistered", image: `${unregistered.name(inputs)} of ${connection}` };
    if (inputs.foreign) return { kind: "use", what, name };
    return { kind: "create", what, name, connection, properties: kind.describe(inputs) };
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
          `the ${what} ${news.name} has ${property} ${JSON.stringify(olds[property])} and can't change while machines use it; ` +
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
        const resultOf = (object: string, made: boolean, outputs?: object) => ({
          id: `${inputs.namespace}/${object}`,
          outs: { ...inputs, ...outputs, object, made },
        });
        const objects = kind.of(tumblebug);
        if (!objects) return resultOf(unregistered?.name(inputs) ?? inputs.name, false);
        const { found, made } = await ensure(objects, inputs);
        const mismatch = made ? undefined : mismatchOf(inputs, found);
        if (mismatch !== undefined)
          throw new ReasonedError(
            kind.reason,
            `the ${what} ${found.name} exists, this stack did not create it, and it ${mismatch}`,
            "use another `resources.prefix`, or delete it",
          );
        if (!made) report(resource, "exists; it is kept when the cluster is deleted");
        return resultOf(found.name, made, kind.outputs?.(found));
      });
    },

    async update(id, olds: Outputs, news: Inputs) {
      if (!kind.change || (news.steps ?? []).length === 0) return { outs: { ...olds, ...news } };
      const resource = resourceOf(news);
      const { object, made } = olds;
      try {
        return await withServer(resource, news.server, async (tumblebug) => {
          const objects = kind.of(tumblebug);
          const found = await objects?.read(news.namespace, object);
          if (!objects || !found) throw new Error("it no longer exists; run `pulumi refresh`, then `up`");
          if (!made) report(resource, "is not changed, because this stack did not create it");
          else await kind.change?.(tumblebug, news, olds, found);
          const now = (await objects.read(news.namespace, object)) ?? found;
          return { outs: { ...news, ...kind.outputs?.(now), object: now.name, made } };
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
      if (!made && unregistered?.generation === server.generation) return;
      if (reportKept(resource, outputs)) return;
      await runStep({ resource, step: "delete" }, server, (tumblebug, signal) =>
        waitFor<true>({
          what: `the ${what} ${object} to be deleted`,
          seconds: DELETE_SECONDS,
          signal,
          progress: (line) => report(resource, line),
          probe: async () => {
            try {
              const objects = kind.of(tumblebug);
              if (!objects) report(resource, "is not registered on this server, so nothing is deleted");
              else if (!(await hasOtherOwner(objects, outputs))) await objects.delete(namespace, object);
              else report(resource, "is kept: another owner has made one of its name");
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
    if (reportKept(resource, outputs)) return;
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
