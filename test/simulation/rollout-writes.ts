import { annotationKeys, CONFIGURATION } from "../../providers/kubeadm/plan/rollout/annotations";

const KEYS = annotationKeys();

/** What one write does to one node's rollout. */
type RolloutDeed =
  | "opened"
  | "cordoned"
  | "evicted"
  | "asked"
  | "ready=false"
  | "applied"
  | "upgraded"
  | "configured"
  | "ready=true"
  | "closed"
  | "uncordoned"
  | "took the Lease";

export interface RolloutWrite {
  readonly what: RolloutDeed;
  readonly node: string;
  readonly byAgent: boolean;
  /** Milliseconds of `Date.now()`. */
  readonly at: number;
  /** A version, for "asked", "upgraded" and "opened" (what the kubelet had). */
  readonly version: string;
}

interface Written {
  metadata?: { name?: string; annotations?: Record<string, string> };
  spec?: { unschedulable?: boolean; holderIdentity?: string };
  status?: { nodeInfo?: { kubeletVersion?: string } };
  data?: Record<string, string>;
}

/** The parts of an admission.k8s.io/v1 request that tell what is written. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly name: string;
  readonly resource: { readonly resource: string };
  readonly object: Written;
  readonly oldObject: Written | null;
}

/** Pods of the tests are named after their node. */
export const podOn = (node: string): string => `on-${node}`;

/** What a request would do, seen from its object before and after; nothing when it is not part of a rollout. */
export function writesOf({ name, resource, object, oldObject }: AdmissionRequest): RolloutWrite[] {
  const before = oldObject ?? {};
  const write = (what: RolloutDeed, node: string, byAgent: boolean, version = ""): RolloutWrite => ({
    what,
    node,
    byAgent,
    version: version.replace(/^v/, ""),
    at: Date.now(),
  });
  const rollout = (what: RolloutDeed, version?: string) => write(what, name, false, version);
  const agent = (what: RolloutDeed, version?: string) => write(what, name, true, version);
  switch (resource.resource) {
    case "pods":
      return [write("evicted", name.replace(podOn(""), ""), false)];
    case "leases":
      return object.spec?.holderIdentity && object.spec.holderIdentity !== before.spec?.holderIdentity
        ? [rollout("took the Lease")]
        : [];
    case "configmaps":
      return name === "kubeadm-config" &&
        object.data?.ClusterConfiguration !== before.data?.ClusterConfiguration
        ? [agent("applied", /kubernetesVersion: (\S+)/.exec(object.data?.ClusterConfiguration ?? "")?.[1])]
        : [];
    case "nodes": {
      const changed = (key: string) => {
        const value = object.metadata?.annotations?.[key];
        return value === before.metadata?.annotations?.[key] ? undefined : value;
      };
      const kubelet = before.status?.nodeInfo?.kubeletVersion;
      const isCordoned = object.spec?.unschedulable ?? false;
      const asked = changed(KEYS.desired("kubelet")) ?? changed(KEYS.desired(CONFIGURATION));
      const configured = changed(KEYS.current(CONFIGURATION));
      const ready = changed(KEYS.ready);
      const allowed = changed(KEYS.changesAllowed);
      const now = object.status?.nodeInfo?.kubeletVersion;
      return [
        ...(allowed === "true" ? [rollout("opened", kubelet)] : []),
        ...(isCordoned && !before.spec?.unschedulable ? [rollout("cordoned")] : []),
        ...(asked === undefined ? [] : [rollout("asked", asked)]),
        ...(ready === undefined ? [] : [agent(ready === "true" ? "ready=true" : "ready=false")]),
        ...(now === kubelet ? [] : [agent("upgraded", now)]),
        ...(configured === undefined ? [] : [agent("configured", configured)]),
        ...(allowed === "false" ? [rollout("closed")] : []),
        ...(!isCordoned && before.spec?.unschedulable ? [rollout("uncordoned")] : []),
      ];
    }
    default:
      return [];
  }
}

const OPPOSITES: Partial<Record<RolloutDeed, RolloutDeed>> = {
  opened: "closed",
  closed: "opened",
  cordoned: "uncordoned",
  uncordoned: "cordoned",
  "ready=false": "ready=true",
  "ready=true": "ready=false",
};

/**
 * Adds a write. The API server asks again when its first attempt met an older object than it knew of: the same change
 * of something that has not been changed back is one write.
 */
export function addWrite(writes: RolloutWrite[], write: RolloutWrite): void {
  const { what, node, version } = write;
  const isSame = (other: RolloutWrite) =>
    other.what === what && other.node === node && other.version === version && what !== "evicted";
  const earlier = writes.findLastIndex(isSame);
  const isUndone = writes
    .slice(earlier + 1)
    .some((other) => other.node === node && (other.what === OPPOSITES[what] || other.what === what));
  if (earlier >= 0 && !isUndone) writes.splice(earlier, 1);
  writes.push(write);
}

/** "cordoned w-1" for everything that happened more than once. */
export function rolledTwice(writes: readonly RolloutWrite[]): string[] {
  const done = writes.map(({ what, node }) => `${what} ${node}`);
  return [...new Set(done.filter((deed, index) => done.indexOf(deed) !== index))];
}

/**
 * What happened, in the words of a preview and in the order in which the nodes were opened: one line for each time,
 * of what was seen and nothing else.
 */
export function linesOf(writes: readonly RolloutWrite[]): string[] {
  const turns: { opening: RolloutWrite; seen: RolloutWrite[]; applies: boolean; isClosed: boolean }[] = [];
  // kubeadm-config does not say who wrote it: it is the node whose agent is running
  let atWork = "";
  for (const write of writes) {
    if (write.what === "opened") turns.push({ opening: write, seen: [], applies: false, isClosed: false });
    if (write.what === "ready=false") atWork = write.node;
    const node = write.what === "applied" ? atWork : write.node;
    const turn = turns.findLast(({ opening }) => opening.node === node);
    turn?.seen.push(write);
    if (turn && write.what === "applied") turn.applies = true;
    if (turn && write.what === "closed") turn.isClosed = true;
  }
  return turns.map(({ opening, seen, applies, isClosed }) => {
    const found = (deed: RolloutDeed) => seen.find(({ what }) => what === deed);
    const parts = [
      ...(found("cordoned") ? ["cordon"] : []),
      ...(found("evicted") ? ["drain"] : []),
      ...(found("upgraded") ? [`kubeadm upgrade ${applies ? "apply" : "node"}`] : []),
      ...(found("uncordoned") ? ["uncordon"] : isClosed ? ["left cordoned"] : []),
    ];
    return `${opening.node} ${opening.version} → ${found("upgraded")?.version} (${parts.join(", ")})`;
  });
}
