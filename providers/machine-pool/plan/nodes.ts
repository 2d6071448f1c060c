/** A Node of the workload cluster, as far as a pool is concerned. */
export interface ObservedNode {
  name: string;
  providerID?: string;
  isReady: boolean;
  /** why it is not, in the kubelet's or the node controller's words */
  reason?: string;
  /** since when it is as it is: an ISO time */
  since?: string;
  /** of its kubelet: "v1.29.4" */
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

/** Reads a Node. */
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

/** A version as Cluster API's webhook makes it: with its "v". */
export function withV(version: string): string {
  return version.startsWith("v") ? version : `v${version}`;
}

/**
 * What is missing of a pool's nodes, one line each: a Node for every machine of the list, Ready, with the wanted
 * version. Nothing is taken from the pool's own counts, which stay as they were when a node fails later.
 *
 * @param providerIDs of the pool's machines
 * @param version that the kubelets are to have; when absent, any
 */
export function nodeFaults(
  providerIDs: readonly string[],
  nodes: readonly ObservedNode[],
  version: string | undefined,
): string[] {
  const wanted = version === undefined ? undefined : withV(version);
  // looked up: pools have a thousand nodes, and each change of one asks again
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
 * How long it takes until every node of a pool has been Ready for so many seconds, if none fails meanwhile; never longer than
 * that, whatever the nodes' clocks say.
 *
 * @param providerIDs of the pool's machines
 * @param now milliseconds since 1970
 * @returns seconds; 0 when they have
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
