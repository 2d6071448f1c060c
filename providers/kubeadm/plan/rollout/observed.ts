import { CONTROL_PLANE_LABEL } from "../machine";
import { GROUP_LABEL } from "../membership/node-settings";
import { ALL_SOFTWARE, annotationKeys, WAS_CORDONED, type AnnotationKeys } from "./annotations";

/** A Node as the rollout sees it. All of the protocol's state is here: nothing is remembered between two runs. */
export interface RolloutNode {
  name: string;
  controlPlane: boolean;
  /** "control-plane", a worker group by the label foresail/group, or "" when the node has none */
  pool: string;
  /** without the leading v */
  kubeletVersion: string;
  ready: boolean;
  /** the Ready condition's last words when it is not ready */
  reason?: string;
  /** its kubelet stopped reporting: the node controller sets the condition to Unknown then */
  unreachable?: true;
  unschedulable: boolean;
  /** somebody had cordoned it before the rollout came, so it stays so */
  cordonedBefore: boolean;
  changesAllowed: boolean;
  /** absent: no agent has spoken on this node */
  agentReady?: boolean;
  message?: string;
  /** by software, without the leading v of Kubernetes' programs */
  desired: Record<string, string>;
  current: Record<string, string>;
}

/** The parts of a v1 Node that a rollout looks at. */
export interface NodeParts {
  metadata?: { name?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: { unschedulable?: boolean };
  status?: {
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    nodeInfo?: { kubeletVersion?: string };
  };
}

/** Reads a Node. @param pattern the annotations' pattern, as configured */
export function observeRolloutNode(node: NodeParts, pattern?: string): RolloutNode {
  const keys = annotationKeys(pattern);
  const labels = node.metadata?.labels ?? {};
  const annotations = node.metadata?.annotations ?? {};
  const controlPlane = CONTROL_PLANE_LABEL in labels;
  const condition = node.status?.conditions?.find(({ type }) => type === "Ready");
  const ready = condition?.status === "True";
  const agent = annotations[keys.ready];
  const message = annotations[keys.message];
  return {
    name: node.metadata?.name ?? "",
    controlPlane,
    pool: labels[GROUP_LABEL] ?? (controlPlane ? "control-plane" : ""),
    kubeletVersion: withoutV(node.status?.nodeInfo?.kubeletVersion ?? ""),
    ready,
    ...(ready ? {} : { reason: wordsOf(condition) }),
    ...(condition?.status === "Unknown" ? { unreachable: true } : {}),
    unschedulable: node.spec?.unschedulable ?? false,
    cordonedBefore: annotations[WAS_CORDONED] === "true",
    changesAllowed: annotations[keys.changesAllowed] === "true",
    ...(agent === undefined ? {} : { agentReady: agent === "true" }),
    ...(message ? { message } : {}),
    desired: versions(annotations, keys, "desired"),
    current: versions(annotations, keys, "current"),
  };
}

function wordsOf(condition?: { reason?: string; message?: string }): string {
  const words = [condition?.reason, condition?.message].filter(Boolean).join(": ");
  return words || "the kubelet has not reported";
}

function versions(
  annotations: Record<string, string>,
  keys: AnnotationKeys,
  which: "desired" | "current",
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const software of ALL_SOFTWARE) {
    const value = annotations[keys[which](software)];
    if (value) found[software] = withoutV(value);
  }
  return found;
}

function withoutV(text: string): string {
  return text.replace(/^v(?=\d)/, "");
}
