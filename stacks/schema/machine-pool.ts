import { z } from "zod";
import {
  annotationsIssues,
  apiVersionIssue,
  kindIssue,
  labelsIssues,
  writtenDate,
} from "../../lib/validation/labels";
import { dnsLabelIssue, objectNameIssue } from "../../lib/validation/names";
import { REPLICAS } from "../../lib/validation/numbers";
import { poolVersionIssue } from "../../providers/kubeadm/plan/validation/kubernetes-version";
import {
  APIS,
  conditionTypeIssue,
  fieldPathIssue,
  POLARITIES,
  TIMEOUTS,
} from "../../providers/machine-pool/plan/manifest";
import { exactlyOne, flag, line, rules, seconds, takeOver, text, whole } from "./rule";

const name = (longest = 63) => text((text) => dnsLabelIssue(text, longest));
const labels = () => rules(z.record(z.string(), z.string().overwrite(writtenDate)), labelsIssues);
const annotations = () => rules(z.record(z.string(), z.string()), annotationsIssues);

const PoolObject = z.strictObject({
  apiVersion: text(apiVersionIssue).describe('Group and version: "infrastructure.cluster.x-k8s.io/v1beta1".'),
  kind: text(kindIssue).describe('Kind of the object: "AWSMachinePool".'),
  name: text(objectNameIssue).optional().describe("Name of the object; when absent, that of the pool."),
  labels: labels().default({}).describe("Labels of the object."),
  annotations: annotations().default({}).describe("Annotations of the object."),
  spec: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Its specification; when absent, the object must exist."),
});

const Infrastructure = PoolObject.extend({
  inPlaceFields: z
    .array(text(fieldPathIssue))
    .optional()
    .describe(
      'Paths in `spec` whose change replaces no machine: ["template.tags"]. A run waits for the roll after a change of another field, except where the provider is known to change it in place.',
    ),
});

const Bootstrap = exactlyOne(
  z.strictObject({
    config: PoolObject.optional().describe("Object of a bootstrap provider that creates the join data."),
    dataSecretName: text((name) => (name === "" ? undefined : objectNameIssue(name)))
      .optional()
      .describe(
        'Secret in the same namespace that has the join data already; "" for a managed pool (AKS, EKS, GKE, ARO), whose provider needs none.',
      ),
  }),
);

const Timeouts = z.strictObject({
  bootstrapSeconds: seconds().default(TIMEOUTS.bootstrapSeconds).describe("Until the join data exists."),
  infrastructureSeconds: seconds()
    .default(TIMEOUTS.infrastructureSeconds)
    .describe("Until the machines exist."),
  nodesSeconds: seconds().default(TIMEOUTS.nodesSeconds).describe("Until the nodes are Ready."),
  deletionSeconds: seconds()
    .default(TIMEOUTS.deletionSeconds)
    .describe("Until the pool is gone when it is deleted."),
});

/** Schema of `foresail:machinePool`. */
export const MachinePoolSection = z.strictObject({
  name: text(objectNameIssue).describe("Name of the MachinePool."),
  namespace: name().default("default").describe("Namespace of the Cluster, the pool and what it refers to."),
  cluster: name().describe("Name of the existing Cluster."),
  api: z
    .enum(APIS)
    .default("v1beta1")
    .describe("Version of cluster.x-k8s.io; v1beta2 is served from Cluster API 1.11."),
  replicas: whole(...REPLICAS)
    .default(1)
    .describe(
      "Number of nodes; with the annotation cluster.x-k8s.io/replicas-managed-by only at the beginning.",
    ),
  version: text(poolVersionIssue)
    .optional()
    .describe("Kubernetes version of the nodes; a change rolls them. When absent, the provider's own."),
  bootstrap: Bootstrap.describe("Where the machines' join data comes from: exactly one."),
  infrastructure: Infrastructure.describe("The object that creates the machines."),
  labels: labels().default({}).describe("Labels of the MachinePool."),
  annotations: annotations().default({}).describe("Annotations of the MachinePool."),
  failureDomains: z.array(line()).default([]).describe("Failure domains of the machines."),
  minReadySeconds: seconds(0)
    .optional()
    .describe("Seconds that a node has to be Ready before it counts as available, which a run waits for."),
  nodeDrainTimeoutSeconds: seconds(0).optional().describe("Deadline of draining a node; 0 or absent: none."),
  nodeDeletionTimeoutSeconds: seconds(0)
    .optional()
    .describe(
      "Deadline of deleting the Node of a machine that goes; 0: none. When absent, Cluster API's own.",
    ),
  nodeVolumeDetachTimeoutSeconds: seconds(0)
    .optional()
    .describe("Deadline of detaching the volumes of a machine that goes; 0 or absent: none."),
  readinessGates: z
    .array(
      z.strictObject({
        conditionType: text(conditionTypeIssue).describe('Type of the condition: "example.com/Checked".'),
        polarity: z.enum(POLARITIES).optional().describe("Negative: the condition must be False."),
      }),
    )
    .optional()
    .describe("Conditions of each Machine that have to hold, too, before it counts as ready."),
  adopt: flag(false, "Take the objects from another controller or field manager that has them."),
  takeOver: takeOver("the objects", "objects"),
  timeouts: Timeouts.prefault({}).describe("Deadlines, in seconds."),
});
export type MachinePoolSection = z.output<typeof MachinePoolSection>;
