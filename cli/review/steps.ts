import { commonSteps, machineOfStep, type CommonStep, type StepTable } from "../../lib/steps/steps";
import { plural } from "../../lib/text/plural";
import {
  clusterReadySteps,
  etcdKeySteps,
  statusStampSteps,
  zenithKeypairSteps,
} from "../../providers/azimuth/plan/steps";
import { releaseRecoverySteps } from "../../providers/helm/plan/release-record";
import * as kubeadm from "../../providers/kubeadm/plan/steps";
import { adoptionSteps, objectReadySteps } from "../../providers/kubernetes/plan/steps";
import { machinePoolSteps } from "../../providers/machine-pool/plan/steps";
import { cloudPlanSteps, initializedMarkSteps } from "../../providers/openstack/plan/steps";
import * as tumblebug from "../../providers/tumblebug/plan/steps";

/** What a reviewer should see first, the worst first. */
export const DANGERS = [
  "refused",
  "replaced",
  "deleted",
  "lost",
  "taken over",
  "unknown step",
  "blocked",
  "settings lost",
  "failed before",
  "certificates",
  "taint removed",
  "control plane",
  "unread",
] as const;
export type DangerKind = (typeof DANGERS)[number];

/** What a review has to know about a kind of steps. */
interface Rule<Step> {
  /** Default: a step. Others: it will be known later; a part of a machine was not read; nothing will be done. */
  readonly role?: "unknown" | "unread" | "remark";
  readonly danger?:
    DangerKind | ((step: Step, isControlPlane: (name: string) => boolean) => DangerKind | undefined);
  /** Whether it takes a node out of service or out of the cluster, or a machine from another stack. */
  readonly isDisruptive?: true | ((step: Step) => boolean);
  /** Whether it belongs to the join of machines. */
  readonly joins?: true;
}

interface Rules {
  readonly table: StepTable<{ readonly kind: string }>;
  readonly kinds: Readonly<Record<string, Rule<never>>>;
}

/** The compiler demands a rule for every kind of the table. */
function rules<Step extends { readonly kind: string }>(
  table: StepTable<Step>,
  own: { readonly [Kind in Exclude<Step["kind"], CommonStep["kind"]>]: Rule<Extract<Step, { kind: Kind }>> },
): Rules {
  return { table, kinds: { ...own, ...COMMON } };
}

function harmless<Step extends { readonly kind: string }>(table: StepTable<Step>): Rules {
  return { table, kinds: COMMON };
}

const PLAIN = {};
const REMARK = { role: "remark" } as const;
const ofMember = (step: { etcdMember?: true }) => (step.etcdMember ? "control plane" : "deleted");
const ofNode = (step: { machine: string }, isControlPlane: (name: string) => boolean) =>
  isControlPlane(step.machine) ? "control plane" : undefined;

const COMMON: { readonly [Kind in CommonStep["kind"]]: Rule<Extract<CommonStep, { kind: Kind }>> } = {
  recorded: { role: "remark", danger: "unread" },
  unchecked: { role: "remark", danger: "unread" },
  unknown: { role: "unknown" },
  // the remark before it has the reason
  unread: { role: "unread" },
  leftOut: REMARK,
  later: REMARK,
};

const JOINS = { joins: true } as const;
/** What is done before a machine joins. */
const PREPARATION = {
  ...{ loadModules: JOINS, setKernel: JOINS, swapOff: JOINS, installPackages: JOINS, installPrograms: JOINS },
  ...{ downloadBundle: JOINS, installDiffering: JOINS, moreChanges: JOINS },
  ...{ writeFiles: JOINS, replaceFiles: JOINS, removeFiles: JOINS, rebootFirst: JOINS },
};

/** The only place that knows which kinds of steps are dangerous or disruptive, by resource type. */
const RULES: Readonly<Record<string, Rules>> = {
  NodeGroup: rules(kubeadm.nodeGroupSteps, {
    ...PREPARATION,
    join: { joins: true },
    joinControlPlane: { joins: true, danger: "control plane" },
    register: { joins: true, danger: ofNode },
    complete: { joins: true },
    rejoin: { joins: true },
    rejoinControlPlane: { joins: true, danger: "control plane" },
    spreadDns: { joins: true },
    // a taint may keep pods away from a node for a reason
    settings: {
      danger: ({ changes }) =>
        changes.some(({ what, removed }) => what === "taint" && removed) ? "taint removed" : undefined,
    },
    keep: PLAIN,
    remove: { isDisruptive: true, danger: ofMember },
    lose: { isDisruptive: true, danger: "lost" },
    loseOfPool: { isDisruptive: true, danger: "lost" },
    resetOfPool: { isDisruptive: true },
    notReady: REMARK,
    keeps: REMARK,
    unasked: REMARK,
    leavesNotReady: REMARK,
    unknownMember: REMARK,
  }),
  NodeAgents: harmless(kubeadm.nodeAgentsSteps),
  NodeRollout: rules(kubeadm.nodeRolloutSteps, {
    upgrade: {
      isDisruptive: true,
      danger: (step, isControlPlane) =>
        step.how === "kubeadm upgrade apply" ? "control plane" : ofNode(step, isControlPlane),
    },
    configure: { isDisruptive: ({ drains }) => drains === true, danger: ofNode },
    repair: { isDisruptive: ({ drains }) => drains === true, danger: ofNode },
    update: { isDisruptive: true, danger: ofNode },
    reboot: { isDisruptive: true, danger: ofNode },
    updatesOf: REMARK,
    unreadUpdates: { role: "remark", danger: "unread" },
    laterUpdates: REMARK,
    renew: { danger: ofNode },
    renewKubelet: { danger: ofNode },
    ending: { role: "remark", danger: "certificates" },
    ended: { role: "remark", danger: "certificates" },
    renewsIn: REMARK,
    drifted: REMARK,
    back: { isDisruptive: true, danger: ofNode },
    finish: { isDisruptive: true, danger: ofNode },
    snapshot: PLAIN,
    leavesLater: REMARK,
    waits: REMARK,
    // what was reviewed went further
    cordoned: PLAIN,
    notReady: PLAIN,
    order: REMARK,
    failedBefore: { role: "remark", danger: "failed before" },
    outage: { role: "remark", danger: "control plane" },
    diff: REMARK,
    driftDiff: REMARK,
    partialDiff: REMARK,
    noDiff: REMARK,
    lost: { role: "remark", danger: "settings lost" },
    lostOfCluster: { role: "remark", danger: "settings lost" },
    noLost: { role: "remark", danger: "unread" },
    unreadPackage: { role: "remark", danger: "unread" },
    drainBlocked: { role: "remark", danger: "blocked" },
  }),
  AdminKubeconfig: rules(kubeadm.adminKubeconfigSteps, {
    renewEnded: { danger: "certificates" },
    restartRenewed: { danger: "certificates" },
    unreadCertificates: { role: "remark", danger: "unread" },
  }),
  EncryptionKey: rules(kubeadm.encryptionKeySteps, {
    add: { danger: "control plane" },
    promote: { danger: "control plane" },
    rewrite: PLAIN,
    remove: { danger: "control plane" },
  }),
  LoopbackEndpoint: harmless(kubeadm.loopbackEndpointSteps),
  ClusterOwner: rules(kubeadm.clusterOwnerSteps, {
    ...PREPARATION,
    takeOver: { danger: "taken over", isDisruptive: true },
  }),
  ReaderAccount: rules(kubeadm.readerAccountSteps, {
    own: { danger: ({ former }) => (former === undefined ? undefined : "taken over") },
    kubeadm: PLAIN,
    kubeProxy: PLAIN,
    endpoint: PLAIN,
    apply: PLAIN,
    write: PLAIN,
    restore: PLAIN,
    unreadObjects: { role: "unread", danger: "unread" },
  }),
  ClusterInit: rules(kubeadm.clusterInitSteps, {
    init: { danger: "control plane" },
    adopt: PLAIN,
    own: PLAIN,
    configuration: REMARK,
    upload: PLAIN,
    kubeProxy: PLAIN,
    endpoint: PLAIN,
    keepCredentials: PLAIN,
  }),
  CloudPlan: harmless(cloudPlanSteps),
  InitializedMark: harmless(initializedMarkSteps),
  TumblebugPlan: rules(tumblebug.tumblebugPlanSteps, {
    remove: { danger: "control plane" },
    removeStopped: { danger: "deleted" },
  }),
  TumblebugMcis: rules(tumblebug.tumblebugMcisSteps, {
    deleteFailed: { danger: "deleted" },
    deleteUnused: { danger: "deleted" },
    await: { danger: "deleted" },
    create: PLAIN,
  }),
  TumblebugNamespace: harmless(tumblebug.tumblebugNamespaceSteps),
  TumblebugImage: harmless(tumblebug.tumblebugObjectSteps),
  TumblebugSecurityGroup: harmless(tumblebug.tumblebugObjectSteps),
  TumblebugSpec: harmless(tumblebug.tumblebugObjectSteps),
  TumblebugSshKey: harmless(tumblebug.tumblebugObjectSteps),
  TumblebugVNet: harmless(tumblebug.tumblebugObjectSteps),
  TumblebugLoadBalancer: harmless(tumblebug.tumblebugLoadBalancerSteps),
  MachinePoolReady: harmless(machinePoolSteps),
  Adoption: rules(adoptionSteps, {
    make: PLAIN,
    ensureUnread: PLAIN,
    ensure: PLAIN,
    remake: PLAIN,
    adopt: PLAIN,
    takeOver: { danger: "taken over" },
    mark: PLAIN,
    apply: PLAIN,
    addOwner: PLAIN,
    addFinalizer: PLAIN,
    wait: PLAIN,
  }),
  ObjectReady: harmless(objectReadySteps),
  ZenithKeypair: harmless(zenithKeypairSteps),
  EtcdKey: harmless(etcdKeySteps),
  ClusterReady: harmless(clusterReadySteps),
  StatusStamp: harmless(statusStampSteps),
  ReleaseRecovery: harmless(releaseRecoverySteps),
};

export const TABLES: Readonly<Record<string, Rules["table"]>> = Object.fromEntries(
  Object.entries(RULES).map(([type, { table }]) => [type, table]),
);

/** A line of the input `steps`, as a review has to know it. */
export interface ReviewStep {
  /** Undefined for a line that no table knows, which a person has to judge. */
  readonly kind?: string;
  readonly role: "step" | NonNullable<Rule<never>["role"]>;
  readonly machine?: string;
  /** The machines of an unknown step; undefined for any machines. */
  readonly wanted?: readonly string[];
  readonly isDisruptive: boolean;
  readonly joins: boolean;
  danger(isControlPlane: (name: string) => boolean): DangerKind | undefined;
}

/** Parses a line of a resource. A line that no table knows counts as a disruptive step, so that none is missed. */
export function readStep(type: string, line: string): ReviewStep {
  const { table, kinds }: Rules = RULES[type] ?? { table: commonSteps, kinds: COMMON };
  const step = table.parse(line);
  if (step === undefined)
    return { role: "step", isDisruptive: true, joins: false, danger: () => "unknown step" };
  const { role = "step", danger, isDisruptive = false, joins = false } = kinds[step.kind] ?? {};
  const machine = machineOfStep(step);
  return {
    kind: step.kind,
    role,
    ...(machine === undefined ? {} : { machine }),
    ...("wanted" in step ? { wanted: step.wanted as readonly string[] } : {}),
    isDisruptive: typeof isDisruptive === "function" ? isDisruptive(step as never) : isDisruptive,
    joins,
    danger: (isControlPlane) =>
      typeof danger === "function" ? danger(step as never, isControlPlane) : danger,
  };
}

/** Returns what the preparation of a machine changes, if a line says that; undefined for another one. */
export function preparationIn(line: string): kubeadm.PreparationStep | undefined {
  const step = kubeadm.preparationSteps.parse(line);
  return step !== undefined && step.kind in PREPARATION ? (step as kubeadm.PreparationStep) : undefined;
}

/** Tells whether a line says what the preparation of a machine changes. */
export const isPreparation = (line: string): boolean => preparationIn(line) !== undefined;

/** Returns `3 steps in 2 resources`, or `3 steps, 4 unread in 2 resources`; remarks do not count. */
export function countSteps(
  changes: readonly { readonly type: string; readonly steps: readonly string[] }[],
): string {
  const roles = changes.flatMap(({ type, steps }) => steps.map((line) => readStep(type, line).role));
  const unread = roles.filter((role) => role === "unread").length;
  const steps = roles.filter((role) => role !== "remark").length - unread;
  const counts = [plural(steps, "step"), ...(unread > 0 ? [`${unread} unread`] : [])].join(", ");
  return `${counts} in ${plural(changes.length, "resource")}`;
}

/** The operation on a resource, by the engine's names; a replacement's three steps are one. */
export type ResourceOperation = "create" | "update" | "replace" | "delete" | "import";

export interface ResourceChange {
  readonly urn: string;
  /** Last part of the URN. */
  readonly name: string;
  /** Last part of the type: `NodeGroup`, `Command`. */
  readonly type: string;
  readonly operation: ResourceOperation;
  /** The new input `steps`: what will be done, line by line. */
  readonly steps: readonly string[];
  /** The other new inputs, with secrets as the engine masks them. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Names of the properties that cause a replacement. */
  readonly replaceReasons: readonly string[];
}

/** The parts of a resource change that a saved review contains. */
export type ReviewedChange = Pick<ResourceChange, "urn" | "name" | "type" | "operation" | "steps" | "inputs">;
