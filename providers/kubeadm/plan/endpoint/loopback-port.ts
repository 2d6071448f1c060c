import { RecordedResources, type Outputs, type StateResources } from "../../../../lib/pulumi/state";
import { initResource, preparedMachine } from "../cluster/resource-names";

/** Default port of a new cluster's loopback endpoint (docs/adr/0028-loopback-port.md). */
export const DEFAULT_LOOPBACK_PORT = 7445;
/** The default when state did not record the port of a preparation. */
const EARLIER_LOOPBACK_PORT = 8443;

/** The comment by which a preparation's command records the port. */
export const recordPort = (port: number): string => `# loopback-port=${port}`;

/**
 * Returns the port of a loopback endpoint whose configuration names none: the cluster's own, which is fixed at init; else
 * that of its machines' preparations, which a run that was interrupted before init does not repeat; else the default.
 *
 * @param cluster name of the cluster's component
 * @param machines names of its machines
 * @param existing the stack's state at the start of the run
 */
export function loopbackPort(cluster: string, machines: readonly string[], existing: StateResources): number {
  const state = new RecordedResources(existing);
  const init = state.outputs("ClusterInit", initResource(cluster));
  if (init) return portIn(init) ?? EARLIER_LOOPBACK_PORT;
  const prepared = state
    .of("command:remote:Command")
    .filter(({ name }) => machines.includes(preparedMachine(cluster, name) ?? ""));
  const ports = prepared.map(({ outputs }) => portOf(outputs) ?? EARLIER_LOOPBACK_PORT);
  return ports[0] ?? DEFAULT_LOOPBACK_PORT;
}

/** Returns the port of a loopback endpoint as nodes use it, "127.0.0.1:7445"; undefined for anything else. */
export function loopbackPortIn(endpoint: unknown): number | undefined {
  const [, port] = (typeof endpoint === "string" && /^127\.0\.0\.1:(\d+)$/.exec(endpoint)) || [];
  return port === undefined ? undefined : Number(port);
}

/** Returns the port in the specification of a cluster; undefined without a loopback endpoint. */
function portIn({ specification }: Outputs): number | undefined {
  const { endpoint } = (specification ?? {}) as { endpoint?: { loopback?: { port?: number } } };
  return endpoint?.loopback?.port;
}

/** Returns the port that a preparation recorded; undefined for one of an earlier release. */
function portOf({ create }: Outputs): number | undefined {
  const [, port] = / # loopback-port=(\d+)$/.exec(String(create)) ?? [];
  return port === undefined ? undefined : Number(port);
}
