/** The parts of a Node of the workload cluster that a pool needs. */
export interface ObservedNode {
  name: string;
  providerID?: string;
  isReady: boolean;
  /** why it is not Ready, from the kubelet or the node controller */
  reason?: string;
  /** the last transition of Ready: an ISO time */
  since?: string;
  /** kubelet version: "v1.29.4" */
  version?: string;
}

interface NodeObject {
  metadata?: { name?: string };
  spec?: { providerID?: string };
  status?: {
    conditions?: {
      type: string;
      status: string;
      reason?: string;
      message?: string;
      lastTransitionTime?: string;
    }[];
    nodeInfo?: { kubeletVersion?: string };
  };
}

/** Returns the observed state of a Node. */
export function observeNode({ metadata, spec, status }: NodeObject): ObservedNode {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const isReady = ready?.status === "True";
  const why = [ready?.reason, ready?.message].filter(Boolean).join(": ");
  return {
    name: metadata?.name ?? "",
    isReady,
    ...(spec?.providerID === undefined ? {} : { providerID: spec.providerID }),
    ...(isReady
      ? {}
      : {
          reason: ready === undefined ? "no condition Ready" : `Ready is ${ready.status}${why && `, ${why}`}`,
        }),
    ...(ready?.lastTransitionTime === undefined ? {} : { since: ready.lastTransitionTime }),
    ...(status?.nodeInfo?.kubeletVersion === undefined ? {} : { version: status.nodeInfo.kubeletVersion }),
  };
}

/** Returns a version with its "v", as Cluster API's webhook does. */
export function withV(version: string): string {
  return version.startsWith("v") ? version : `v${version}`;
}

/**
 * Returns one line for each missing property of a pool's nodes: each listed machine needs a Node that is Ready and has
 * the desired version. Does not use the pool's own counts, which stay unchanged when a node fails later.
 *
 * @param providerIDs of the pool's machines
 * @param version desired kubelet version; undefined for any
 */
export function nodeFaults(
  providerIDs: readonly string[],
  nodes: readonly ObservedNode[],
  version: string | undefined,
): string[] {
  const wanted = version === undefined ? undefined : withV(version);
  // a map, because a pool may have a thousand nodes and each change of one calls this again
  const registered = new Map(nodes.map((node) => [node.providerID, node]));
  return providerIDs.flatMap((providerID) => {
    const node = registered.get(providerID);
    if (node === undefined) return [`no node has registered for ${providerID}`];
    if (wanted !== undefined && node.version !== undefined && node.version !== wanted)
      return [`node ${node.name} runs ${node.version}, not ${wanted} yet`];
    return node.isReady ? [] : [`node ${node.name} is not Ready (${node.reason})`];
  });
}

/**
 * Returns how long it takes until every node of a pool has been Ready for `minReadySeconds`, if none fails meanwhile;
 * at most that long, even if the nodes' clocks differ.
 *
 * @param providerIDs of the pool's machines
 * @param now milliseconds since 1970
 * @returns seconds; 0 when all have been
 */
export function secondsUntilAvailable(
  providerIDs: readonly string[],
  nodes: readonly ObservedNode[],
  minReadySeconds: number,
  now: number,
): number {
  if (minReadySeconds === 0) return 0;
  const left = nodes
    .filter(({ providerID, since }) => since !== undefined && providerIDs.includes(providerID ?? ""))
    .map(({ since = "" }) => minReadySeconds - (now - Date.parse(since)) / 1000);
  return Math.min(minReadySeconds, Math.max(0, ...left));
}
