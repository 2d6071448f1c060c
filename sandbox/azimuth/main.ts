/** The process of Azimuth's simulated controllers and of Zenith's registrar. */
import { readFileSync } from "node:fs";
import { Registrar } from "./controllers/registrar";
import { SimulatedControllers } from "./simulated-controllers";

async function main([kubeconfigFile = "", port = ""]: string[]): Promise<void> {
  const say = (line: string) => console.log(`${new Date().toISOString()} ${line}`);
  const kubeconfig = readFileSync(kubeconfigFile, "utf8");
  const registrar = await Registrar.start(Number(port));
  const controllers = await SimulatedControllers.start({ kubeconfig, say });
  say(`the simulated controllers are running; the registrar is at ${registrar.url}`);
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.once(
      signal,
      () => void Promise.all([registrar.stop(), controllers.stop()]).then(() => process.exit()),
    );
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
