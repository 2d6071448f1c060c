import { isDeepStrictEqual } from "node:util";
import type { NewObject } from "../../../../lib/kubernetes";
import { CLUSTER_HISTORY } from "../../../../lib/kubernetes/own-objects";
import { explained } from "../../../../lib/pulumi/failure";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { report } from "../../../../lib/pulumi/log";
import { isKnown } from "../../../../lib/unknown";
import { READER } from "../../plan/cluster/reader-account";
import { rolledConfiguration, withGivenConfiguration } from "../../plan/configuration/rolled-configuration";
import { isWrittenPart } from "../../plan/configuration/configuration-record";
import { type KeptReading, keptObjects, keptObjectSteps, objectOf } from "../../plan/cluster/kept-objects";
import type { Owner } from "../../../../lib/ownership/owner";
import { decideRecord, type RecordDecision } from "../../plan/facts/cluster-ownership";
import { isOwnerRecord, ownerIn } from "../../plan/facts/owner-record";
import { withoutCredentials } from "../../plan/cluster/machine";
import { ANNOTATION_POLICY } from "../../plan/rollout/annotation-policy";
import { controlPlaneEndpoint } from "../../plan/cluster/specification";
import { type ReaderAccountStep, readerAccountSteps } from "../../plan/steps";
import { interruptedWrites } from "../configuration/configuration-record";
import type { ReaderAccountInputs as Inputs } from "../declarations";
import { readKept, writeKept } from "./kept-objects";
import { assertOwnCluster, ForeignCluster, selfOf } from "../facts/ownership";
import { readCluster, readForCheck } from "../session/preview-reading";

const nameOf = ({ specification }: Inputs) => `ReaderAccount ${specification.name}`;
const recordedIn = ({ objects }: Partial<Inputs>) => (objects ?? []) as NewObject[];

/** Returns whether the cluster is new, or gets its next version: a new release alone changes no object. */
function isNewVersion(olds: Partial<Inputs>, { specification }: Inputs): boolean {
  if (olds.specification === undefined) return true;
  return isKnown(specification) && olds.specification.version !== specification.version;
}

/** Returns whether a cluster gets its next version or configuration, with which its agents get new annotations. */
function isRolled(olds: Partial<Inputs>, news: Inputs): boolean {
  const { specification } = news;
  if (isNewVersion(olds, news) || olds.specification === undefined) return true;
  return (
    isKnown(specification) &&
    rolledConfiguration({ specification: olds.specification }, specification) !== undefined
  );
}

/** Writes the settings of the stack again that an interrupted run left otherwise, as the steps say. */
async function takeBack(inputs: Inputs): Promise<void> {
  const resource = nameOf(inputs);
  const parts = (inputs.steps ?? [])
    .map((text) => readerAccountSteps.parse(text)?.kind)
    .filter(isWrittenPart);
  if (parts.length === 0) return;
  const { writeConfiguration } = await import("../configuration/cluster-configuration.js");
  const { withMachines } = await import("../session/machines-session.js");
  const [olds, isAdopted] = [inputs.specification, inputs.adopted === true];
  await explained({ resource, step: "write the cluster's configuration again" }, () =>
    withMachines(resource, inputs, (session) => writeConfiguration(session, parts, { olds, isAdopted })),
  );
}

/** Makes the objects as they are desired. */
function apply(inputs: Inputs): Promise<Inputs> {
  const resource = nameOf(inputs);
  return explained({ resource, step: `make ${READER}` }, async () => {
    const { connect } = await import("../session/cluster-session.js");
    const kubernetes = await connect(resource, inputs);
    try {
      await assertOwnCluster(kubernetes, inputs, inputs.takeOver);
      await Promise.all(recordedIn(inputs).map((object) => writeKept(kubernetes, object)));
    } finally {
      kubernetes.close();
    }
    return withoutCredentials(inputs);
  });
}

/** Returns the step that installs or updates the policy; none when it is recorded. */
function policySteps(olds: Partial<Inputs>, desired: NewObject[], annotations: string): ReaderAccountStep[] {
  const recorded = recordedIn(olds);
  const policy = desired.filter(({ metadata }) => metadata.name === ANNOTATION_POLICY);
  if (policy.every((object) => recorded.some((one) => isDeepStrictEqual(one, object)))) return [];
  const how = recorded.some(({ kind }) => kind === policy[0]?.kind) ? "update" : "install";
  return [{ kind: "apply", how, policy: ANNOTATION_POLICY, annotations }];
}

/**
 * Returns the steps of a preview, or why the cluster is refused: it compares the cluster with what foresail keeps there, in
 * one reading.
 */
async function planned(olds: Partial<Inputs>, news: Inputs, desired: NewObject[]): Promise<RecordDecision> {
  const { specification, annotations } = news;
  const isHistory = ({ metadata }: NewObject) => metadata.name === CLUSTER_HISTORY.name;
  // also in a cluster where it is not compared yet
  const wanted = desired.some(isHistory) ? desired : [...desired, objectOf(CLUSTER_HISTORY)];
  const reading = await readForCheck(nameOf(news), olds, news, ({ kubernetes }) =>
    readKept(kubernetes, wanted),
  );
  const history: KeptReading | undefined = reading?.facts?.[wanted.findIndex(isHistory)];
  const endpoint = isKnown(specification) ? controlPlaneEndpoint(specification.endpoint) : "";
  const record = decideRecord(selfOf(news, news.takeOver), {
    desired,
    recorded: recordedIn(olds),
    reading: reading?.facts?.[wanted.findIndex(isOwnerRecord)],
  });
  if ("refused" in record) return record;
  const interrupted = history && "live" in history ? interruptedWrites(specification, history.live) : [];
  return {
    steps: [
      ...record.steps,
      ...interrupted.map((kind): ReaderAccountStep => ({ kind, endpoint })),
      ...policySteps(olds, desired, annotations),
      ...keptObjectSteps(desired, recordedIn(olds), reading && (reading.facts ?? reading.unread)),
    ],
  };
}

/** Returns the stack as the cluster records it; the recorded one if this run leaves the stack's identity out. */
function recordedOwner(olds: Partial<Inputs>, { owner }: Inputs): Owner | undefined {
  return owner !== undefined && owner.id !== "" ? owner : ownerIn(recordedIn(olds).find(isOwnerRecord));
}

export const handlers: Handlers = {
  async check(olds: Partial<Inputs>, news: Inputs) {
    const given = withGivenConfiguration(olds, news);
    const [newVersion, rolled] = [isNewVersion(olds, news), isRolled(olds, news)];
    const hasPolicy = olds.hasAnnotationPolicy === true || newVersion;
    const drift = olds.protectsDrift === true || news.drift !== undefined || rolled;
    const certificates = olds.protectsCertificates === true || newVersion || rolled;
    const updates = olds.protectsUpdates === true || news.reportsUpdates === true;
    const comparesAll = olds.comparesAll === true || rolled;
    const objects = keptObjects({
      annotations: news.annotations,
      hasPolicy,
      configuration: given.configuration !== undefined,
      drift,
      certificates,
      updates,
      comparesAll,
      owner: recordedOwner(olds, news),
    });
    const plan = await planned(olds, news, objects);
    if ("refused" in plan) return { inputs: news, failures: [{ property: "cluster", reason: plan.refused }] };
    const steps = plan.steps.map(readerAccountSteps.format);
    for (const step of steps) report(nameOf(news), step);
    return {
      inputs: {
        ...given,
        hasAnnotationPolicy: hasPolicy,
        ...(drift ? { protectsDrift: true } : {}),
        ...(certificates ? { protectsCertificates: true } : {}),
        ...(updates ? { protectsUpdates: true } : {}),
        ...(comparesAll ? { comparesAll: true } : {}),
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

  /** @throws ForeignCluster when another stack has taken the cluster over */
  async read(id, outputs: Inputs) {
    const { facts: foreign } = await readCluster(nameOf(outputs), outputs.kubeconfig, ({ kubernetes }) =>
      assertOwnCluster(kubernetes, outputs).then(
        () => undefined,
        (error: unknown) => (error instanceof ForeignCluster ? error : undefined),
      ),
    );
    if (foreign) throw foreign;
    return { id, props: outputs };
  },
};
