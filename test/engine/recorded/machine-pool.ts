import { CapiFixture } from "../../simulation/capi-fixture";
import type { SavedApiServer } from "../../simulation/bare-api-server";
import { poolConfiguration } from "../machine-pool-fixture";
import { apiPrograms } from "../simulated-fixture";
import { PORTS, type StartServers } from "./recorded-stack";

/** Cluster API's own manager and the sandbox's providers. */
export const startPoolServers: StartServers = async (toolchain, _folder, saved) => {
  const capi = await new CapiFixture({
    programs: apiPrograms(toolchain),
    manager: toolchain.program("cluster-api"),
    apiServer: { port: PORTS.apiServer, ...(saved ? { saved: saved as SavedApiServer } : {}) },
  }).start();
  return {
    secrets: { managementKubeconfig: capi.api.kubeconfig() },
    record: async (stack) => {
      stack.configure(poolConfiguration({ replicas: 2 }));
      await stack.up();
      // rolled to another version and scaled
      stack.configure(poolConfiguration({ replicas: 3, version: "1.30.0" }));
      await stack.up();
    },
    scaled: ({ machinePool = {} }) => ({ machinePool: { ...machinePool, replicas: 4 } }),
    save: () => capi.api.save(),
    stop: () => capi.stop(),
  };
};
