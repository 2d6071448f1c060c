import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { connectionOf } from "../../../sandbox/tumblebug/clouds";
import type { MachineAddresses, Machines } from "../../../sandbox/tumblebug/machines";
import { TumblebugServer } from "../../../sandbox/tumblebug/server";
import { tumblebugConfiguration } from "../../../sandbox/systems/tumblebug-configuration";
import type { SavedApiServer } from "../../simulation/bare-api-server";
import { type SavedMachines, SimulatedMachines, SSH_PORT } from "../../simulation/simulated-machines";
import { CREDENTIAL } from "../../support/tumblebug";
import { PORTS, startApiServer, type StartServers } from "./recorded-stack";

interface SavedTumblebug {
  readonly apiServer: SavedApiServer;
  readonly machines: SavedMachines;
  /** text of the file in which the server keeps its objects */
  readonly objects: string;
}

const VERSION = "v1.36.3";
export const CONNECTIONS = [connectionOf("aws", "ap-northeast-2"), connectionOf("azure", "koreacentral")];

/** The simulated CB-Tumblebug with simulated machines. */
export const startTumblebug: StartServers = async (toolchain, folder, recorded) => {
  const saved = recorded as SavedTumblebug | undefined;
  const api = await startApiServer(toolchain, saved?.apiServer);
  const machines = new SimulatedMachines(api, VERSION);
  if (saved) await machines.restore(saved.machines);
  const ofServer = path.join(folder, "tumblebug");
  const objects = path.join(ofServer, "state.json");
  mkdirSync(ofServer);
  if (saved) writeFileSync(objects, saved.objects);
  const server = new TumblebugServer({
    generation: "infra",
    folder: ofServer,
    ...CREDENTIAL,
    connections: CONNECTIONS,
    machines: machinesOf(machines),
    limits: false,
  });
  const address = await server.start(PORTS.service);
  const names = CONNECTIONS.map(({ name }) => name);
  return {
    kubeconfig: api.kubeconfig(),
    secrets: {
      tumblebugCredentials: JSON.stringify({ username: CREDENTIAL.user, password: CREDENTIAL.password }),
    },
    record: async (stack) => {
      const { cluster, tumblebug } = tumblebugConfiguration(
        {
          size: { controlPlanes: 1, workers: 3 },
          access: { address, ...CREDENTIAL },
          generation: "infra",
          connections: names,
          cidr: "10.21.0.0/16",
        },
        {},
      );
      stack.configure({ system: "tumblebug", cluster, tumblebug });
      await stack.up();
    },
    scaled: ({ tumblebug = {} }) => {
      const groups = tumblebug["groups"] as { count: number }[];
      const last = groups.at(-1)!;
      return {
        tumblebug: { ...tumblebug, groups: [...groups.slice(0, -1), { ...last, count: last.count + 1 }] },
      };
    },
    save: async (): Promise<SavedTumblebug> => ({
      apiServer: await api.save(),
      machines: machines.save(),
      objects: readFileSync(objects, "utf8"),
    }),
    stop: async () => {
      await server.close();
      machines.stop();
      await api.stop();
    },
  };
};

/** The machine of a VM: a worker such as w-1 is the first VM of a group of its name, w-1-1. */
const machineOf = (hostname: string) => hostname.replace(/^(.+-\d+(?:-r\d+)?)-1$/, "$1");

/** VMs that are simulated machines. */
function machinesOf(machines: SimulatedMachines): Machines {
  const names = new Map<string, string>();
  return {
    create: async (desired) => {
      const addresses = new Map<string, MachineAddresses>();
      for (const { id, hostname, publicKey } of desired) {
        const { address } = await machines.create(machineOf(hostname), publicKey);
        names.set(id, machineOf(hostname));
        addresses.set(id, { publicAddress: address, privateAddress: address, sshPort: SSH_PORT });
      }
      return addresses;
    },
    remove: async (ids) => {
      for (const id of ids) await machines.remove(names.get(id) ?? id);
    },
    balancerAddress: () => Promise.resolve("127.14.1.1"),
    powerOff: () => Promise.resolve(),
  };
}
