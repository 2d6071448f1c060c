// The cloud's half of the system tumblebug: the measured VMs accept no logins, so the cluster cannot run on them.
import { readStackResources } from "../../lib/pulumi/stack";
import { checkedTumblebug } from "../../components/tumblebug/tumblebug-cluster-args";
import { TumblebugMachines } from "../../components/tumblebug/tumblebug-machines";
import { wantedMachines } from "./machines";

async function make(): Promise<object> {
  const { address, generation, connections, workers } = wantedMachines();
  const operator = ["192.0.2.1/32"];
  const args = checkedTumblebug("bench", {
    ...{ address, generation },
    namespace: "bench",
    connections: connections.map((name) => ({ name })),
    groups: [
      group("cp", "control-plane", connections[0] as string, 1),
      ...connections.map((connection, index) => group(`w${index + 1}`, "worker", connection, workers)),
    ],
    network: { cidr: "10.21.0.0/16" },
    nodeAddresses: "private",
    access: { ssh: operator, api: operator, nodePorts: [], nodes: [] },
    resources: { keepOnDelete: false },
    user: "cb-user",
    timeouts: { machinesSeconds: 600 },
    cluster: { version: "1.34.0", network: { plugin: { flannel: {} } } },
  });
  const existing = await readStackResources();
  const { mcis } = new TumblebugMachines("bench", { ...args, existing });
  return { vms: mcis.vms };
}

const group = (name: string, role: "control-plane" | "worker", connection: string, replicas: number) => ({
  ...{ name, role, connection, replicas, spec: "t3.medium", image: "debian-12" },
  labels: {},
  taints: [],
});

module.exports = make;
