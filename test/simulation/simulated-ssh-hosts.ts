import { watch, writeFileSync } from "node:fs";
import { isAlive } from "../../lib/process/identity";
import { ClusterNodes } from "./cluster-nodes";
import { FleetFiles } from "./fleet-files";
import { SimulatedHost } from "./simulated-host";

/**
 * The process of a simulated fleet: `node simulated-ssh-hosts.js --state DIR`, with DIR/fleet.json written before.
 * It runs apart from the tests' own process tree, so that killing `pulumi` leaves the machines running, and ends
 * with the process that the configuration names as its parent.
 */
async function main(): Promise<void> {
  const [flag, folder] = process.argv.slice(2);
  if (flag !== "--state" || !folder) throw new Error("usage: simulated-ssh-hosts.js --state DIR");
  const files = new FleetFiles(folder);
  const { configuration } = files;
  const nodes = new ClusterNodes(configuration.kubeconfig, configuration.version);
  const hosts = new Map(
    configuration.machines.map((machine) => [
      machine.name,
      new SimulatedHost(machine, files, configuration, nodes),
    ]),
  );
  await Promise.all([...hosts.values()].map((host) => host.listen()));
  watch(files.offFolder, (_event, name) => {
    hosts
      .get(name ?? "")
      ?.power()
      .catch((error: Error) => console.error(error.message));
  });
  nodes
    .tendPods((name) => hosts.has(name) && !files.isOff(name))
    .catch((error: Error) => console.error(error.message));
  setInterval(() => {
    if (!isAlive(configuration.parent)) process.exit(0);
  }, 1000);
  writeFileSync(files.readyFile, String(process.pid));
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
