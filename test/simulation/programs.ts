import { join } from "node:path";
import { createReporter } from "../../sandbox/progress";
import { ensureToolchain } from "../../sandbox/toolchain";
import type { ApiServerPrograms } from "./bare-api-server";

const VERSION = "1.36.3";

/**
 * The programs of the bare API server, from the toolchain; or from the folder that FORESAIL_SIMULATION_PROGRAMS
 * names, for a machine that has them already.
 */
export async function simulationPrograms(): Promise<Required<ApiServerPrograms>> {
  const folder = process.env.FORESAIL_SIMULATION_PROGRAMS;
  if (folder) {
    const [etcd, kubeApiserver] = [join(folder, "etcd"), join(folder, "kube-apiserver")];
    return { etcd, kubeApiserver, kubeControllerManager: join(folder, "kube-controller-manager") };
  }
  const programs = (await ensureToolchain({ kubernetes: [VERSION] }, createReporter())).kubernetes(VERSION);
  const {
    etcd,
    "kube-apiserver": kubeApiserver,
    "kube-controller-manager": kubeControllerManager,
  } = programs;
  return { etcd, kubeApiserver, kubeControllerManager };
}
