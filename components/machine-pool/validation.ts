import { takeOverIssue } from "../../lib/ownership/owner";
import { plain } from "../../lib/pulumi/arguments";
import {
  deadlineIssues,
  oneOf,
  optionalTextAt,
  textAt,
  wholeNumberAt,
  wholeNumbersIn,
} from "../../lib/validation/arguments";
import { kubeconfigIssue } from "../../lib/validation/kubeconfigs";
import { annotationsIssues, apiVersionIssue, kindIssue, labelsIssues } from "../../lib/validation/labels";
import { dnsLabelIssue, objectNameIssue, shortLineIssue } from "../../lib/validation/names";
import { REPLICAS, SECONDS } from "../../lib/validation/numbers";
import { below, exactlyOneIssue, issueAt, type ValidationIssue } from "../../lib/validation/validation-issue";
import { poolVersionIssue } from "../../providers/kubeadm/plan/validation/source";
import {
  APIS,
  conditionTypeIssue,
  fieldPathIssue,
  NODE_TIMEOUTS,
  POLARITIES,
  TIMEOUTS,
} from "../../providers/machine-pool/plan/manifest";
import type { MachinePoolArgs, PoolObjectArgs } from "./machine-pool-args";

/** Returns all issues of a pool's plain arguments, by the same rules as for a stack's configuration. */
export function argumentIssues(name: string, args: MachinePoolArgs): ValidationIssue[] {
  const { bootstrap, failureDomains = [], readinessGates = [], timeouts = {} } = args;
  return [
    ...textAt(["name"], name, objectNameIssue),
    ...optionalTextAt(["kubeconfig"], plain(args.kubeconfig), kubeconfigIssue),
    ...optionalTextAt(["workloadKubeconfig"], plain(args.workloadKubeconfig), kubeconfigIssue),
    ...textAt(["namespace"], args.namespace, (text) => dnsLabelIssue(text)),
    ...textAt(["cluster"], args.cluster, (text) => dnsLabelIssue(text)),
    ...optionalTextAt(["api"], args.api, oneOf(APIS)),
    ...issueAt(["replicas"], args.replicas === undefined ? "is missing; write a whole number" : undefined),
    ...wholeNumberAt(["replicas"], args.replicas, REPLICAS),
    ...optionalTextAt(["version"], args.version, poolVersionIssue),
    ...below(["bootstrap"], bootstrapIssues(bootstrap)),
    ...below(["infrastructure"], objectIssues(args.infrastructure)),
    ...(args.infrastructure.inPlaceFields ?? []).flatMap((field, index) =>
      textAt(["infrastructure", "inPlaceFields", index], field, fieldPathIssue),
    ),
    ...metadataIssues(args),
    ...failureDomains.flatMap((domain, index) => textAt(["failureDomains", index], domain, shortLineIssue)),
    ...wholeNumbersIn(args, {
      minReadySeconds: ANY_SECONDS,
      ...Object.fromEntries(NODE_TIMEOUTS.map((name) => [`${name}Seconds`, ANY_SECONDS])),
    }),
    ...readinessGates.flatMap(({ conditionType, polarity }, index) => [
      ...textAt(["readinessGates", index, "conditionType"], conditionType, conditionTypeIssue),
      ...optionalTextAt(["readinessGates", index, "polarity"], polarity, oneOf(POLARITIES)),
    ]),
    ...optionalTextAt(["takeOver"], args.takeOver, takeOverIssue),
    ...below(["timeouts"], deadlineIssues(timeouts, TIMEOUTS)),
  ];
}

const ANY_SECONDS = [0, SECONDS[1]] as const;

function bootstrapIssues(bootstrap: MachinePoolArgs["bootstrap"]): ValidationIssue[] {
  const { config, dataSecretName } = bootstrap as { config?: PoolObjectArgs; dataSecretName?: string };
  return [
    ...issueAt([], exactlyOneIssue({ config, dataSecretName }, ["config", "dataSecretName"])),
    ...(config ? below(["config"], objectIssues(config)) : []),
    ...optionalTextAt(["dataSecretName"], dataSecretName || undefined, objectNameIssue),
  ];
}

function objectIssues(object: PoolObjectArgs): ValidationIssue[] {
  return [
    ...textAt(["apiVersion"], object.apiVersion, apiVersionIssue),
    ...textAt(["kind"], object.kind, kindIssue),
    ...optionalTextAt(["name"], object.name, objectNameIssue),
    ...metadataIssues(object),
  ];
}

function metadataIssues({
  labels = {},
  annotations = {},
}: Pick<PoolObjectArgs, "labels" | "annotations">): ValidationIssue[] {
  return [
    ...below(["labels"], labelsIssues(labels)),
    ...below(["annotations"], annotationsIssues(annotations)),
  ];
}
