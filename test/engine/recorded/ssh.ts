import { KubernetesClient } from "../../../lib/kubernetes";
import type { SavedApiServer } from "../../simulation/bare-api-server";
import { obeyAnnotations } from "../../simulation/simulated-agents";
import { type SavedFleet, SimulatedFleet } from "../../simulation/simulated-fleet";
import { desiredCluster, machineEntry } from "../desired-cluster";
import { PORTS, startApiServer, type StartServers } from "./recorded-stack";

interface SavedMachines {
  readonly apiServer: SavedApiServer;
  readonly fleet: SavedFleet;
}

const OLD = "1.35.4";
const NEW = "1.36.3";
const MACHINES = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];
const SPARE = "w-3";

/** Simulated machines whose API servers are one bare API server. */
export const startMachines: StartServers = async (toolchain, _folder, recorded) => {
  const saved = recorded as SavedMachines | undefined;
  const api = await startApiServer(toolchain, saved?.apiServer);
  const fleet = await SimulatedFleet.start({
    api,
    machines: [...MACHINES, SPARE],
    version: `v${saved ? NEW : OLD}`,
    firstPort: PORTS.fleet,
    ...(saved && { saved: saved.fleet }),
  });
  const kubernetes = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 10 });
  const stopped = new AbortController();
  const agents = obeyAnnotations(kubernetes, [], { milliseconds: 20, signal: stopped.signal });
  const desired = (version: string) =>
    desiredCluster(
      fleet,
      MACHINES.map((name) => ({ name, ...(name === "w-2" && { pool: "batch", hostKey: undefined }) })),
      { version },
    );
  return {
    secrets: { sshPrivateKey: fleet.privateKey },
    record: async (stack) => {
      await kubernetes.create({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace: "kube-system", name: "kubeadm-config" },
        data: { ClusterConfiguration: `kubernetesVersion: v${OLD}\n` },
      });
      stack.configure({ cluster: desired(OLD) });
      await stack.up();
      stack.configure({ cluster: desired(NEW) });
      await stack.up();
    },
    scaled: ({ cluster = {} }) => ({
      cluster: { ...cluster, machines: [...(cluster["machines"] as object[]), machineEntry(fleet, SPARE)] },
    }),
    save: async (): Promise<SavedMachines> => ({ apiServer: await api.save(), fleet: fleet.save() }),
    stop: async () => {
      stopped.abort();
      await agents;
      kubernetes.close();
      await fleet.stop();
      await api.stop();
    },
  };
};
