import { CONTROL_PLANE_LABEL } from "../cluster/machine";
import { GROUP_LABEL, removalIn } from "../membership/nodes";
import { type Drift, parseDrift } from "../drift/drift";
import { type CertificateReport, certificateVersion, parseCertificates } from "../certificates/report";
import { ALL_SOFTWARE, annotationKeys, BACK_FAILED, DRIFT, FAILED_CHANGE, GO_BACK } from "./annotations";
import { CERTIFICATES, NO_DRIFT, OS_UPDATES, WAS_CORDONED } from "./annotations";
import { parseUpdates, type UpdateReport, updatesVersion } from "../updates/updates";
import { type FailedChange, parseFailedChange } from "./failed-change";

/** A Node as a rollout sees it. It contains all state of the protocol: nothing else is kept between runs. */
export interface RolloutNode {
  name: string;
  controlPlane: boolean;
  /** "control-plane", a worker group by the configuration or the label foresail/group, or "" for a node without either. */
  pool: string;
  /** Without the leading v. */
  kubeletVersion: string;
  ready: boolean;
  /** Reason and message of the Ready condition, when it is not true. */
  reason?: string;
  /** Its kubelet stopped reporting: the node controller has set the Ready condition to Unknown. */
  unreachable?: true;
  unschedulable: boolean;
  /** It was already cordoned before its step of the rollout, so it stays cordoned. */
  cordonedBefore: boolean;
  /** Its change window is open. */
  changesAllowed: boolean;
  /** Its agent was asked to take back what it had changed since the window was opened. */
  goingBack?: true;
  /** Absent until an agent has reported from this node. */
  agentReady?: boolean;
  message?: string;
  /** Requests that failed and would fail again, as `software@version` of each. */
  finalFailure?: readonly string[];
  /** What it went back from. */
  failedChange?: FailedChange;
  /** The filesystems that are too full for an upgrade, as the agent reports them. */
  shortage?: string;
  /** Versions by software, without the leading v of Kubernetes' programs. */
  desired: Record<string, string>;
  current: Record<string, string>;
  /** What others changed in the machine's files, if anything. */
  drift?: Drift;
  /** The ends of its certificates; absent from agents that do not report them. */
  certificates?: CertificateReport;
  /** What asks its agent to renew them, when this run does. */
  renewal?: string;
  /** The pending updates of its operating system; absent from agents that do not report them. */
  updates?: UpdateReport;
  /** What asks its agent to install them, when this run does. */
  updateRequest?: string;
}

/** Returns a Ready node at rest, as it is after it has joined: nothing is requested of its agent. */
export const nodeAtRest = (
  node: Pick<RolloutNode, "name" | "controlPlane" | "pool" | "kubeletVersion">,
): RolloutNode => ({
  ...node,
  ready: true,
  unschedulable: false,
  cordonedBefore: false,
  changesAllowed: false,
  agentReady: true,
  desired: {},
  current: {},
});

/** The fields of a v1 Node that a rollout reads. */
export interface NodeParts {
  metadata?: { name?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: { unschedulable?: boolean };
  status?: {
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    nodeInfo?: { kubeletVersion?: string };
  };
}

/**
 * Converts a v1 Node.
 *
 * @param pattern the annotations' pattern, as configured
 * @param repairs whether what others changed is put back: then `DRIFT` is among the versions
 */
export function observeRolloutNode(node: NodeParts, pattern?: string, repairs = false): RolloutNode {
  const keys = annotationKeys(pattern);
  const labels = node.metadata?.labels ?? {};
  const annotations = node.metadata?.annotations ?? {};
  const controlPlane = CONTROL_PLANE_LABEL in labels;
  const condition = node.status?.conditions?.find(({ type }) => type === "Ready");
  const ready = condition?.status === "True";
  const reason = [condition?.reason, condition?.message].filter(Boolean).join(": ");
  const agent = annotations[keys.ready];
  const message = annotations[keys.message];
  const failed = annotations[keys.finalFailure];
  const failedChange = parseFailedChange(annotations[FAILED_CHANGE]);
  const versions = (keyOf: (software: string) => string) => {
    const found = ALL_SOFTWARE.map((software) => [software, withoutV(annotations[keyOf(software)])]);
    return Object.fromEntries(found.filter(([, version]) => version)) as Record<string, string>;
  };
  const drift = parseDrift(annotations[keys.current(DRIFT)]);
  const [desired, current] = [versions(keys.desired), versions(keys.current)];
  if (repairs) {
    current[DRIFT] = drift?.hash ?? NO_DRIFT;
    const asked = annotations[keys.desired(DRIFT)];
    if (asked !== undefined) desired[DRIFT] = asked;
  }
  const certificates = parseCertificates(annotations[keys.current(CERTIFICATES)]);
  if (certificates) {
    const asked = annotations[keys.desired(CERTIFICATES)];
    const version = certificateVersion(certificates, asked);
    if (version !== undefined) current[CERTIFICATES] = version;
    if (version !== undefined && asked !== undefined) desired[CERTIFICATES] = asked;
  }
  const updates = parseUpdates(annotations[keys.current(OS_UPDATES)]);
  const askedUpdates = annotations[keys.desired(OS_UPDATES)];
  if (updates ?? askedUpdates) current[OS_UPDATES] = updatesVersion(updates, askedUpdates);
  if (askedUpdates !== undefined) desired[OS_UPDATES] = askedUpdates;
  return {
    name: node.metadata?.name ?? "",
    controlPlane,
    pool: labels[GROUP_LABEL] ?? (controlPlane ? "control-plane" : ""),
    kubeletVersion: withoutV(node.status?.nodeInfo?.kubeletVersion),
    ready,
    ...(ready ? {} : { reason: reason || "the kubelet has not reported" }),
    ...(condition?.status === "Unknown" ? { unreachable: true } : {}),
    // a machine whose removal ends instead is uncordoned before it changes
    unschedulable: node.spec?.unschedulable === true && removalIn(annotations) !== "cordoned",
    cordonedBefore: annotations[WAS_CORDONED] === "true",
    changesAllowed: ["true", GO_BACK].includes(annotations[keys.changesAllowed] ?? ""),
    ...(annotations[keys.changesAllowed] === GO_BACK ? { goingBack: true } : {}),
    ...(agent === undefined ? {} : { agentReady: agent === "true" }),
    ...(message ? { message } : {}),
    ...(failed ? { finalFailure: failed.split(" ") } : {}),
    ...(failedChange ? { failedChange } : {}),
    ...(annotations[keys.shortage] ? { shortage: annotations[keys.shortage] } : {}),
    desired,
    current,
    ...(drift ? { drift } : {}),
    ...(certificates ? { certificates } : {}),
    ...(updates ? { updates } : {}),
  };
}

/** Returns a version without the leading v. */
export const withoutV = (text = ""): string => text.replace(/^v(?=\d)/, "");

/** Returns whether a node's agent changes software, or was asked to. */
export function isWorking({ agentReady, desired, current }: RolloutNode): boolean {
  return (
    agentReady === false ||
    Object.keys(desired).some((name) => (current[name] ?? desired[name]) !== desired[name])
  );
}

/** What was requested of a node. */
export interface Asked {
  /** Version of the kubelet. */
  version: string;
  /** Versions of every software; undefined when only the change window has to be closed. */
  software: Record<string, string> | undefined;
}

/**
 * Describes what a node still has to do to reach the requested versions; undefined when it has finished. Checks the
 * kubelet's version before Ready, since a restarting kubelet leaves its old Ready condition behind for a while.
 */
export function pendingOf(node: RolloutNode, { version, software }: Asked): string | undefined {
  const failure = node.message ? `; its last failure: ${node.message}` : "";
  if (software === undefined) {
    if (isWorking(node)) return `the node agent is at work${failure}`;
  } else {
    const behind = Object.keys(software).filter((name) => node.current[name] !== software[name]);
    if (node.agentReady === undefined) return `the node agent has not reported yet${failure}`;
    if (behind.length > 0) {
      const words = behind.map((name) => `${name} ${node.current[name] ?? "unknown"}, not ${software[name]}`);
      return `${node.agentReady ? "the node agent has not begun" : "the node agent is at work"}: ${words.join(", ")}${failure}`;
    }
    const undesired = Object.keys(software).filter((name) => node.desired[name] !== software[name]);
    if (undesired.length > 0) return `another writer requested another version of ${undesired.join(", ")}`;
    if (!node.agentReady) return `the node agent is not ready${failure}`;
  }
  if (node.kubeletVersion !== version)
    return `the kubelet reports ${node.kubeletVersion || "no version"}, not ${version}${failure}`;
  return node.ready ? undefined : `not Ready: ${node.reason ?? "the kubelet has not reported"}${failure}`;
}

/**
 * Returns whether the agent has failed at exactly what is requested, and would fail in the same way again. What it says of
 * an earlier request, which it may write after the request has changed, does not count.
 */
export function hasGivenUp({ finalFailure = [], desired }: RolloutNode, { software = {} }: Asked): boolean {
  const requests = textsOf(software);
  const asked = textsOf(desired);
  const isOfNow = (request: string) => asked.includes(request) || request.startsWith(`${DRIFT}@`);
  return (
    requests.length > 0 &&
    requests.every((request) => finalFailure.includes(request)) &&
    finalFailure.every(isOfNow)
  );
}

const textsOf = (versions: Readonly<Record<string, string>>): string[] =>
  Object.entries(versions).map(([name, version]) => `${name}@${version}`);

/** Returns what the agent says when a node can't go back; undefined while it may. An earlier failure is none of that. */
export function failedBack({ finalFailure, message }: RolloutNode): string | undefined {
  return finalFailure?.includes(BACK_FAILED) ? (message ?? "going back failed") : undefined;
}

/**
 * Describes what keeps a node from having gone back; undefined when it has: its agent has ended, the node does not have all of
 * what was asked, and is Ready.
 */
export function pendingBack(node: RolloutNode, missed: Readonly<Record<string, string>>): string | undefined {
  if (node.agentReady === false || Object.keys(missed).length === 0) return "the node agent goes back";
  return node.ready ? undefined : `not Ready: ${node.reason ?? "the kubelet has not reported"}`;
}
