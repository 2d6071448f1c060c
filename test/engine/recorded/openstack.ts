import { writeFileSync } from "node:fs";
import path from "node:path";
import type { SavedApiServer } from "../../simulation/bare-api-server";
import { type SavedMachines, SimulatedMachines, SSH_PORT } from "../../simulation/simulated-machines";
import type { SavedCloud } from "../../simulation/openstack/objects";
import { CLOUD, SimulatedOpenstack } from "../../simulation/openstack/simulated-openstack";
import { newKey } from "../../support/ssh-server";
import { PORTS, startApiServer, type StartServers } from "./recorded-stack";

interface SavedOpenstack {
  readonly apiServer: SavedApiServer;
  readonly machines: SavedMachines;
  readonly cloud: SavedCloud;
}

const VERSION = "v1.36.3";

/** A simulated cloud with simulated machines. */
export const startOpenstack: StartServers = async (toolchain, folder, recorded) => {
  const saved = recorded as SavedOpenstack | undefined;
  const api = await startApiServer(toolchain, saved?.apiServer);
  const machines = new SimulatedMachines(api, VERSION);
  if (saved) await machines.restore(saved.machines);
  const cloud = new SimulatedOpenstack(machines, saved?.cloud);
  await cloud.start(PORTS.service);
  writeFileSync(path.join(folder, "clouds.yaml"), cloud.cloudsFile());
  const key = newKey();
  const machine = { flavor: CLOUD.flavor, image: CLOUD.image };
  return {
    secrets: { sshPrivateKey: key.private },
    kubeconfig: api.kubeconfig(),
    record: async (stack) => {
      stack.configure({
        system: "openstack",
        cluster: {
          name: "test",
          version: VERSION.slice(1),
          source: { bundle: { path: "/opt/bundle" } },
          ssh: { user: "operator", port: SSH_PORT },
          network: { plugin: { bridge: {} } },
        },
        openstack: {
          cloud: CLOUD.cloud,
          network: { cidr: "10.20.0.0/24", externalNetwork: CLOUD.externalNetwork },
          keypair: { publicKey: key.public },
          access: { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24", "198.51.100.7/32"] },
          pools: [
            { name: "cp", role: "control-plane", replicas: 3, ...machine },
            { name: "w", role: "worker", replicas: 2, labels: { tier: "web" }, ...machine },
            { name: "batch", role: "worker", replicas: 1, ...machine },
          ],
          cloudProvider: { enabled: false },
        },
      });
      await stack.up();
    },
    scaled: ({ openstack = {} }) => {
      const [controlPlanes, workers, ...others] = openstack["pools"] as object[];
      return { openstack: { ...openstack, pools: [controlPlanes, { ...workers, replicas: 3 }, ...others] } };
    },
    save: async (): Promise<SavedOpenstack> => {
      if (cloud.unknown.length > 0)
        throw new Error(`the simulation does not answer ${cloud.unknown.join(", ")}`);
      return { apiServer: await api.save(), machines: machines.save(), cloud: cloud.save() };
    },
    stop: async () => {
      await cloud.stop();
      machines.stop();
      await api.stop();
    },
  };
};
