import { silent, type TestCluster } from "./test-cluster";

/** A machine of its own in front of the control planes. */
export interface Balancer {
  /** Its address for the cluster's machines. */
  readonly host: string;
  readonly port: number;
}

const PORT = 6443;

/**
 * Starts a machine with haproxy in front of control planes, as sites have one: it asks each of them whether it is ready,
 * and a connection that fails goes to another one.
 *
 * @param name of the machine, which is not a member of the cluster
 */
export async function startBalancer(
  cluster: TestCluster,
  name: string,
  controlPlanes: readonly string[],
): Promise<Balancer> {
  await cluster.fleet.ensure([{ name, bundles: [] }], silent);
  const nodes = await cluster.fleet.list();
  const addressOf = (machine: string) => nodes.find((node) => node.name === machine)?.internalAddress ?? "";
  const servers = controlPlanes.map((plane) => `  server ${plane} ${addressOf(plane)}:${PORT}`);
  await cluster.onMachine(
    name,
    `cat >/etc/haproxy/haproxy.cfg <<'HAPROXY'
global
  maxconn 2000

defaults
  mode tcp
  retries 2
  option redispatch 1
  timeout connect 3s
  timeout client 10m
  timeout server 10m
  timeout check 3s

frontend kubernetes
  bind :${PORT}
  default_backend control-planes

backend control-planes
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  default-server check check-ssl verify none inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join("\n")}
HAPROXY
systemctl enable --quiet haproxy
systemctl restart haproxy`,
  );
  return { host: addressOf(name), port: PORT };
}
