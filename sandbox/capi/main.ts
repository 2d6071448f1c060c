/**
 * The sandbox's bootstrap and infrastructure providers in one process. Arguments: a kubeconfig file of the management
 * cluster, which is the workload cluster too, and the milliseconds from a machine's creation to its Node.
 */
import { readFile } from "node:fs/promises";
import { KubernetesClient } from "../../lib/kubernetes";
import { bootstrapProvider } from "./bootstrap-provider";
import { infrastructureProvider } from "./infrastructure-provider";
import { SANDBOX_KINDS } from "./kinds";
import { PlainNodes } from "./machines";

const CONNECT_SECONDS = 60;

async function main(): Promise<void> {
  const [file = "", milliseconds = "0"] = process.argv.slice(2);
  const kubeconfig = await readFile(file, "utf8");
  const kubernetes = await KubernetesClient.connect({ kubeconfig }, { seconds: CONNECT_SECONDS });
  const say = (line: string) => console.log(`${new Date().toISOString()} ${line}`);
  const controllers = [
    // no machine boots here, so nothing reads it
    bootstrapProvider(kubernetes, SANDBOX_KINDS.config, () => Promise.resolve("#cloud-config\n"), say),
    infrastructureProvider(
      kubernetes,
      SANDBOX_KINDS.pool,
      new PlainNodes(kubernetes, Number(milliseconds)),
      say,
    ),
  ];
  process.once("SIGTERM", () => controllers.forEach((controller) => controller.stop()));
  await Promise.all(controllers.map((controller) => controller.run()));
  kubernetes.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
