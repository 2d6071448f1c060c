/** The process of Azimuth's stand-ins: all controllers of a management cluster, and Zenith's registrar. */
import { readFileSync } from "node:fs";
import { Registrar } from "./controllers/registrar";
import { StandIns } from "./stand-ins";

async function main([kubeconfigFile = "", port = ""]: string[]): Promise<void> {
  const say = (line: string) => console.log(`${new Date().toISOString()} ${line}`);
  const kubeconfig = readFileSync(kubeconfigFile, "utf8");
  const registrar = await Registrar.start(Number(port));
  const standIns = await StandIns.start({ kubeconfig, say });
  say(`the stand-ins run; the registrar is at ${registrar.url}`);
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.once(
      signal,
      () => void Promise.all([registrar.stop(), standIns.stop()]).then(() => process.exit()),
    );
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
