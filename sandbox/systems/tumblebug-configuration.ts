import type { ServerAccess } from "../tumblebug/background-server";
import type { Size } from "./cluster-size";
import { KUBERNETES_VERSION } from "./ssh-configuration";

/** What exists before `pulumi up`: the running server. */
export interface TumblebugFixture {
  readonly size: Size;
  readonly access: ServerAccess;
  readonly generation: "mcis" | "infra";
  /** names of the connections; workers are spread over them, the control planes are in the first */
  readonly connections: readonly string[];
  /** The CIDR of the VNets, which does not contain the VMs' real addresses. */
  readonly cidr: string;
}

/** Returns the values of `foresail:cluster` and `foresail:tumblebug` for the sandbox's server. */
export function tumblebugConfiguration(
  { size, access, generation, connections, cidr }: TumblebugFixture,
  settings: Readonly<Record<string, unknown>>,
): { cluster: Record<string, unknown>; tumblebug: Record<string, unknown> } {
  const machine = { spec: "t3.medium", image: "debian-12" };
  const [first] = connections;
  const workers = connections
    .map((connection, index) => ({
      name: connections.length === 1 ? "w" : `w${index + 1}`,
      role: "worker",
      connection,
      replicas: Math.floor((size.workers + connections.length - 1 - index) / connections.length),
      ...machine,
    }))
    .filter(({ replicas }) => replicas > 0);
  return {
    cluster: {
      name: "sandbox",
      version: KUBERNETES_VERSION,
      source: { bundle: { path: "/opt/foresail/bundle/v{version}" } },
      ...settings,
      network: { plugin: { bridge: {} }, ...(settings["network"] as object | undefined) },
    },
    tumblebug: {
      address: access.address,
      generation,
      namespace: "sandbox",
      createNamespace: true,
      connections: connections.map((name) => ({ name })),
      groups: [
        { name: "cp", role: "control-plane", connection: first, replicas: size.controlPlanes, ...machine },
        ...workers,
      ],
      network: { cidr },
      // all VMs are on one network of this machine, regardless of their simulated cloud
      nodeAddresses: "private",
      access: { ssh: ["10.77.0.0/16"], api: ["10.77.0.0/16"] },
    },
  };
}
