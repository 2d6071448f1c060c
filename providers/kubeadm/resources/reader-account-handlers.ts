import { isDeepStrictEqual } from "node:util";
import { READER, READER_OBJECTS } from "../machine/reader-account";
import { rolledConfiguration, withGivenConfiguration } from "../plan/configuration";
import { isWrittenPart } from "../plan/configuration-record";
import { withoutCredentials } from "../plan/machine";
import { controlPlaneEndpoint } from "../plan/specification";
import { ANNOTATION_POLICY, annotationPolicy } from "../plan/rollout/annotation-policy";
import { readerAccountSteps } from "../plan/steps";
import type { NewObject } from "../../../lib/kubernetes";
import { explained } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { isKnown } from "../../../lib/unknown";
import { interruptedWrites } from "./configuration-record";
import { readCluster } from "./preview-reading";
import type { ReaderAccountInputs as Inputs } from "./declarations";

const nameOf = ({ specification }: Inputs) => `ReaderAccount ${specification.name}`;

/**
 * Returns whether the cluster has the annotation policy after this run. A cluster of a release without it gets it with
 * its next version, so that a new release alone changes nothing.
 */
function hasAnnotationPolicy(olds: Partial<Inputs>, { specification }: Inputs): boolean {
  if (olds.hasAnnotationPolicy === true || olds.specification === undefined) return true;
  return isKnown(specification) && olds.specification.version !== specification.version;
}

/**
 * Returns whether the policy protects reports of drift after this run: in a new cluster, with `drift`, and with the next
 * version or configuration, since the agents that report it come with them.
 */
function protectsDrift(olds: Partial<Inputs>, { specification, drift }: Inputs): boolean {
  if (olds.protectsDrift === true || olds.specification === undefined || drift !== undefined) return true;
  if (!isKnown(specification)) return false;
  const isChanged = rolledConfiguration({ specification: olds.specification }, specification) !== undefined;
  return isChanged || olds.specification.version !== specification.version;
}

/** Writes the settings of the stack again that an interrupted run left otherwise, as the steps say. */
async function takeBack(inputs: Inputs): Promise<void> {
  const resource = nameOf(inputs);
  const parts = (inputs.steps ?? [])
    .map((text) => readerAccountSteps.parse(text)?.kind)
    .filter(isWrittenPart);
  if (parts.length === 0) return;
  const { writeConfiguration } = await import("./cluster-configuration.js");
  const { withMachines } = await import("./machines-session.js");
  const [olds, isAdopted] = [inputs.specification, inputs.adopted === true];
  await explained({ resource, step: "write the cluster's configuration again" }, () =>
    withMachines(resource, inputs, (session) => writeConfiguration(session, parts, { olds, isAdopted })),
  );
}

/** Creates or updates the objects. */
function apply(inputs: Inputs): Promise<Inputs> {
  const resource = nameOf(inputs);
  return explained({ resource, step: `make ${READER}` }, async () => {
    const { connect } = await import("./cluster-session.js");
    const kubernetes = await connect(resource, inputs);
    try {
      for (const object of inputs.objects ?? []) await kubernetes.apply(object as NewObject, { force: true });
    } finally {
      kubernetes.close();
    }
    return withoutCredentials(inputs);
  });
}

/** Returns the lines of a preview in which the policy is installed or updated. */
function policySteps({ objects }: Partial<Inputs>, policy: NewObject[], annotations: string): string[] {
  const recorded = (objects ?? []) as NewObject[];
  if (policy.every((object) => recorded.some((one) => isDeepStrictEqual(one, object)))) return [];
  const how = recorded.some(({ kind }) => kind === policy[0]?.kind) ? "update" : "install";
  return [readerAccountSteps.format({ kind: "apply", how, policy: ANNOTATION_POLICY, annotations })];
}

export const handlers: Handlers = {
  async check(olds: Partial<Inputs>, news: Inputs) {
    const hasPolicy = hasAnnotationPolicy(olds, news);
    const given = withGivenConfiguration(olds, news);
    const drift = protectsDrift(olds, news);
    const configuration = given.configuration !== undefined;
    const policy = hasPolicy ? annotationPolicy(news.annotations, { configuration, drift }) : [];
    const objects = [...READER_OBJECTS, ...policy];
    const endpoint = isKnown(news.specification) ? controlPlaneEndpoint(news.specification.endpoint) : "";
    const steps = [
      ...(await interruptedWrites(nameOf(news), olds, news)).map((kind) =>
        readerAccountSteps.format({ kind, endpoint }),
      ),
      ...policySteps(olds, policy, news.annotations),
    ];
    if (olds.objects && steps.length === 0 && !isDeepStrictEqual(olds.objects, objects))
      report(nameOf(news), `the roles of ${READER} are brought up to date`);
    for (const step of steps) report(nameOf(news), step);
    return {
      inputs: {
        ...given,
        hasAnnotationPolicy: hasPolicy,
        ...(drift ? { protectsDrift: true } : {}),
        objects,
        steps,
      },
      failures: [],
    };
  },

  // the objects do not depend on the kubeconfig that created them
  diff: (_id, olds: Inputs, news: Inputs) =>
    Promise.resolve({
      changes: !isDeepStrictEqual(olds.objects, news.objects) || (news.steps ?? []).length > 0,
    }),

  create: async (inputs: Inputs) => ({ id: inputs.specification.name, outs: await apply(inputs) }),

  async update(_id, _olds: Inputs, news: Inputs) {
    await takeBack(news);
    return { outs: await apply(news) };
  },

  /** Leaves out the objects that were deleted, so that the next preview lists the change. */
  async read(id, outputs: Inputs) {
    const recorded = (outputs.objects ?? []) as NewObject[];
    const { facts: found } = await readCluster(nameOf(outputs), outputs.kubeconfig, ({ kubernetes }) =>
      Promise.all(
        recorded.map(({ apiVersion, kind, metadata }) =>
          kubernetes.get({ apiVersion, kind, namespace: metadata.namespace, name: metadata.name }),
        ),
      ),
    );
    if (!found) return { id, props: outputs };
    return { id, props: { ...outputs, objects: recorded.filter((_, index) => found[index] !== undefined) } };
  },
};
