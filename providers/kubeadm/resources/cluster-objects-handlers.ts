import { isDeepStrictEqual } from "node:util";
import { READER, READER_OBJECTS } from "../machine/reader-account";
import { ANNOTATION_POLICY, annotationPolicy } from "../plan/rollout/annotation-policy";
import { annotationPolicySteps } from "../plan/steps";
import type { NewObject } from "../../../lib/kubernetes";
import { explained } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { readCluster } from "./preview-reading";
import type { AnnotationPolicyInputs, ReaderAccountInputs } from "./declarations";

/** A resource that consists of objects in the cluster and is deleted with the cluster. */
interface ObjectsResource<Inputs> {
  type: string;
  /** What the objects are, for messages. */
  what: string;
  objectsOf: (inputs: Inputs) => NewObject[];
  /** Returns the lines of a preview when the objects change. */
  changes: (olds: Partial<Inputs>, news: Inputs) => string[];
  /** Whether these lines are the input `steps`; otherwise they are only reported. */
  hasSteps: boolean;
}

function handlersOf<Inputs extends ReaderAccountInputs>(resource: ObjectsResource<Inputs>): Handlers {
  const { what, objectsOf } = resource;
  const nameOf = ({ specification }: Inputs) => `${resource.type} ${specification.name}`;
  /** Creates or updates the objects. */
  const apply = (inputs: Inputs): Promise<Inputs> =>
    explained({ resource: nameOf(inputs), step: `make ${what}` }, async () => {
      const { connect } = await import("./cluster-session.js");
      const kubernetes = await connect(nameOf(inputs), inputs);
      try {
        for (const object of objectsOf(inputs)) await kubernetes.apply(object, { force: true });
      } finally {
        kubernetes.close();
      }
      return inputs;
    });
  return {
    check(olds: Partial<Inputs>, news: Inputs) {
      const objects = objectsOf(news);
      const steps = isDeepStrictEqual(olds.objects, objects) ? [] : resource.changes(olds, news);
      for (const line of steps) report(nameOf(news), line);
      const inputs = { ...news, objects, ...(resource.hasSteps ? { steps } : {}) };
      return Promise.resolve({ inputs, failures: [] });
    },

    // the objects do not depend on the kubeconfig that created them
    diff: (_id, olds: Inputs, news: Inputs) =>
      Promise.resolve({ changes: !isDeepStrictEqual(olds.objects, news.objects) }),

    create: async (inputs: Inputs) => ({ id: inputs.specification.name, outs: await apply(inputs) }),

    update: async (_id, _olds: Inputs, news: Inputs) => ({ outs: await apply(news) }),

    /** Leaves out the objects that were deleted, so that the next preview lists the change. */
    async read(id, outputs: Inputs) {
      const recorded = (outputs.objects ?? []) as NewObject[];
      const { facts: found } = await readCluster(outputs.kubeconfig, (kubernetes) =>
        Promise.all(
          recorded.map(({ apiVersion, kind, metadata }) =>
            kubernetes.get({ apiVersion, kind, namespace: metadata.namespace, name: metadata.name }),
          ),
        ),
      );
      if (!found) return { id, props: outputs };
      return {
        id,
        props: { ...outputs, objects: recorded.filter((_, index) => found[index] !== undefined) },
      };
    },
  };
}

export const handlers = {
  ReaderAccount: handlersOf<ReaderAccountInputs>({
    type: "ReaderAccount",
    what: READER,
    objectsOf: () => READER_OBJECTS,
    changes: ({ objects }) => (objects ? [`the roles of ${READER} are brought up to date`] : []),
    hasSteps: false,
  }),
  AnnotationPolicy: handlersOf<AnnotationPolicyInputs>({
    type: "AnnotationPolicy",
    what: `the ValidatingAdmissionPolicy ${ANNOTATION_POLICY}`,
    objectsOf: ({ annotations }) => annotationPolicy(annotations),
    changes: ({ objects }, { annotations }) => {
      const how = objects?.length ? "update" : "install";
      return [annotationPolicySteps.format({ kind: "apply", how, policy: ANNOTATION_POLICY, annotations })];
    },
    hasSteps: true,
  }),
};
