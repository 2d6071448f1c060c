import type { SandboxNode } from "../nodes";
import type { PlannedMachine } from "./cluster-size";

/** The Kubernetes version of the sandbox's cluster. */
export const KUBERNETES_VERSION = "1.36.3";

/** What exists before `pulumi up`. */
export interface SshFixture {
  /** The desired machines of the cluster, in order. */
  readonly machines: readonly (PlannedMachine & { readonly node: SandboxNode })[];
  /** Machines of the last start that have to leave the cluster but can no longer be reached. */
  readonly lost: readonly string[];
  /** The private key for every machine. */
  readonly privateKey: string;
}

/**
 * The value of `foresail:cluster` for container nodes.
 * @param settings settings that only container nodes need
 */
export function clusterConfiguration(
  fixture: SshFixture,
  settings: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return {
    name: "sandbox",
    version: KUBERNETES_VERSION,
    source: { bundle: { path: "/opt/foresail/bundle/v{version}" } },
    ...settings,
    network: { plugin: { bridge: {} }, ...(settings["network"] as object | undefined) },
    machines: fixture.machines.map(({ name, role, pool, labels, node }) => ({
      name,
      role,
      ...(pool === undefined ? {} : { pool }),
      ...(labels === undefined ? {} : { labels }),
      address: node.address,
      port: node.sshPort,
      user: node.user,
      hostKey: node.hostKey,
      internalAddress: node.internalAddress,
      ...(role === "control-plane" ? { apiServer: `${node.address}:${node.apiPort}` } : {}),
    })),
    ...(fixture.lost.length === 0 ? {} : { lost: [...fixture.lost] }),
  };
}

/**
 * Returns machines that were configured, are no longer desired and can't leave the cluster themselves.
 * @param configured the machines of the last start
 * @param wanted the machines of this start
 * @param running the machines that are running now
 */
export function findLost(
  configured: readonly string[],
  wanted: readonly string[],
  running: readonly string[],
): string[] {
  return configured.filter((name) => !wanted.includes(name) && !running.includes(name));
}
