import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { KubernetesClient } from "../../../lib/kubernetes";
import { Registrar } from "../../../sandbox/azimuth/controllers/registrar";
import { azimuthValues } from "../../../sandbox/azimuth/stack-values";
import { SimulatedControllers } from "../../../sandbox/azimuth/simulated-controllers";
import { makeTenancy, simulatedChart, TENANCY } from "../../../sandbox/azimuth/tenancy";
import type { SavedApiServer } from "../../simulation/bare-api-server";
import { untilTrue } from "../azimuth-fixture";
import { PORTS, startApiServer, type StartServers } from "./recorded-stack";

interface SavedAzimuth {
  readonly apiServer: SavedApiServer;
  readonly reservations: Registrar["reservations"];
  /** path in the folder of charts → text */
  readonly charts: Readonly<Record<string, string>>;
}

/** A release's state contains the path of its chart: one in the stack's project. */
const CHARTS = "charts";
const SECRET = { apiVersion: "v1", kind: "Secret", namespace: TENANCY.namespace, name: "demo-kubeconfig" };

/** A management cluster with the controllers of Azimuth's sandbox. */
export const startAzimuthServers: StartServers = async (toolchain, folder, recorded) => {
  const saved = recorded as SavedAzimuth | undefined;
  const charts = path.join(folder, CHARTS);
  if (saved) writeFiles(charts, saved.charts);
  else cpSync(path.dirname(simulatedChart("openstack-cluster")), charts, { recursive: true });
  const api = await startApiServer(toolchain, saved?.apiServer, [
    "garbage-collector-controller",
    "namespace-controller",
  ]);
  const kubeconfig = api.kubeconfig();
  const management = await KubernetesClient.connect({ kubeconfig }, { seconds: 10 });
  const controllers = await SimulatedControllers.start({ kubeconfig, leaseCheckMilliseconds: 500 });
  const registrar = await Registrar.start(PORTS.service);
  registrar.reservations.push(...(saved?.reservations ?? []));
  if (!saved) await makeTenancy(management);
  return {
    secrets: { managementKubeconfig: kubeconfig },
    record: async (stack) => {
      stack.configure({ system: "azimuth", azimuth: withOwnCharts(azimuthValues(registrar.url)) });
      await stack.up();
      // what Azimuth's operators write after the first run is taken up by the second
      await untilTrue("Cluster API's kubeconfig", async () => (await management.get(SECRET)) !== undefined);
      await untilTrue("a run without a step", async () => {
        await stack.up();
        return (await stack.preview()).length === 0;
      });
    },
    scaled: ({ azimuth = {} }) => {
      const [group, ...others] = azimuth["nodeGroups"] as { count: number }[];
      return {
        azimuth: { ...azimuth, nodeGroups: [{ ...group, count: (group?.count ?? 0) + 1 }, ...others] },
      };
    },
    save: async (): Promise<SavedAzimuth> => ({
      apiServer: await api.save(),
      reservations: registrar.reservations,
      charts: readFiles(charts),
    }),
    stop: async () => {
      await registrar.stop();
      await controllers.stop();
      management.close();
      await api.stop();
    },
  };
};

function withOwnCharts(values: Record<string, unknown>): Record<string, unknown> {
  const charts = Object.entries(values["charts"] as Record<string, { chart: string }>).map(
    ([name, { chart }]) => [name, { chart: `./${CHARTS}/${path.basename(chart)}` }] as const,
  );
  const groups = values["nodeGroups"] as object[];
  return {
    ...values,
    charts: Object.fromEntries(charts),
    nodeGroups: [...groups, { name: "batch", machineSize: "vm.small", count: 1 }],
  };
}

function readFiles(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => statSync(path.join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(path.join(folder, name), "utf8")]));
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}
