import type { RolloutNode } from "./observed";

/** A request of an earlier run that the configuration no longer has. */
export interface RecalledRequest {
  name: string;
  /** The version that the Node still asks for. */
  asked: string;
  /** The version that it is asked for instead; undefined to withdraw the request of software that reports no version. */
  to?: string;
}

/**
 * Returns the requests of an earlier run that have to be replaced although the node already reports what is desired: its
 * agent would go on trying to fulfil them, or wait for files that are no longer staged.
 *
 * @param wanted the desired version of every software for this node
 */
export function recalledRequests(
  { desired, current }: Pick<RolloutNode, "desired" | "current">,
  wanted: Readonly<Record<string, string>>,
): RecalledRequest[] {
  return Object.entries(desired).flatMap(([name, asked]) => {
    const to = wanted[name] ?? current[name];
    if (asked === to || (to !== undefined && to !== current[name])) return [];
    return [{ name, asked, ...(to === undefined ? {} : { to }) }];
  });
}
