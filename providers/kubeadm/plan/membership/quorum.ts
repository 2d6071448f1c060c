/** A member of etcd as a control plane sees it. */
export interface EtcdMember {
  /** Decimal member id, as in etcd's JSON. */
  id: string;
  /** Node name; empty while the member has not started. */
  name: string;
  peerUrls: string[];
  healthy: boolean;
  /** It has no vote yet; absent for a member with one. */
  learner?: true;
}

/** Returns how many members must agree in a cluster of this size. */
export const quorum = (members: number): number => Math.floor(members / 2) + 1;

function unhealthyOf(members: readonly EtcdMember[]): string[] {
  return members
    .filter(({ healthy }) => !healthy)
    .map(({ name, peerUrls }) => name || `without a name at ${peerUrls.join(" ")}`);
}

/** Returns why `leaving` may not leave in one `up`, or undefined: without a majority the cluster's data is lost. */
export function refuseMajorityRemoval(present: string[], leaving: string[]): string | undefined {
  const needed = quorum(present.length);
  if (leaving.length === 0 || leaving.length < needed) return undefined;
  return (
    `${leaving.join(", ")} would leave at once, a majority of the ${present.length} control planes; ` +
    `take out at most ${present.length - needed} in one run, and the next ones in the run after it`
  );
}

/** Returns why one member may not be removed now, or undefined: those that stay need a healthy quorum of their own. */
export function refuseMemberRemoval(members: EtcdMember[], leaving: string): string | undefined {
  const staying = members.filter(({ name }) => name !== leaving);
  if (staying.length === 0)
    return `${leaving} is the last member of etcd; destroy the stack to remove the cluster`;
  const unhealthy = unhealthyOf(staying);
  const healthy = staying.length - unhealthy.length;
  if (healthy >= quorum(staying.length)) return undefined;
  return (
    `removing ${leaving} would leave etcd with ${healthy} healthy of ${staying.length} members, ` +
    `${quorum(staying.length)} are needed; fix ${unhealthy.join(", ")} first`
  );
}

/** Returns why etcd accepts no new member now, or undefined: all of its members have to answer each other. */
export function refuseMemberAddition(members: EtcdMember[], joining: string): string | undefined {
  const unhealthy = unhealthyOf(members);
  if (unhealthy.length === 0) return undefined;
  return (
    `${joining} can't join while etcd's member ${unhealthy.join(", ")} does not answer: start that machine again, ` +
    `or, if it is gone, take it out of the configuration and list it under \`lost\``
  );
}

/**
 * Returns why one member may not be away for a while now, or undefined when it may: the others must have a healthy
 * quorum of all members. A cluster of one or two members can spare none, so there all others have to be healthy first.
 */
export function refuseMemberAbsence(members: EtcdMember[], away: string): string | undefined {
  const others = members.filter(({ name }) => name !== away);
  const unhealthy = unhealthyOf(others);
  const healthy = others.length - unhealthy.length;
  const needed = Math.min(quorum(members.length), others.length);
  if (healthy >= needed) return undefined;
  return (
    `while ${away} is away etcd would have ${healthy} healthy of ${members.length} members, ` +
    `${needed} are needed; not healthy: ${unhealthy.join(", ")}`
  );
}

/** Returns the member that an interrupted join left behind: by the machine's name, or unnamed at its address. */
export function staleMember(
  members: EtcdMember[],
  machine: { name: string; internalAddress: string },
): EtcdMember | undefined {
  return members.find(
    ({ name, peerUrls }) =>
      name === machine.name ||
      (name === "" && peerUrls.some((url) => new URL(url).hostname === machine.internalAddress)),
  );
}
