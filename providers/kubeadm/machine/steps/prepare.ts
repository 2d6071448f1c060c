import type { Machine } from "../../plan/machine";
import { NODE_PATHS } from "../../plan/node-paths";
import type { ClusterSpecification } from "../../plan/specification";
import { configureBridge } from "./bridge";
import { configureContainerd, configureEnvironment } from "./container-runtime";
import { configureEndpoint, type Backend } from "./endpoint";
import { prepareKernel } from "./kernel";
import { claimMachine, refuseForeignMachine } from "./ownership";
import { holdOwnAddress } from "./own-address";
import { refuseUnsupportedSystem } from "./preflight";
import { frame, quote, writeFile, type Script } from "./script";
import { importBundleImages, installDistributionPackages, installKubernetes } from "./software";

/** Changes a file's owner. This clears setuid and setgid, so the mode is set again afterwards. */
function giveTo(owner: string, path: string, mode: string): string {
  const chown = `chown ${quote(owner)} ${quote(path)}`;
  return /^0?[0-7]{3}$/.test(mode) ? chown : `${chown}\nchmod ${mode} ${quote(path)}`;
}

/** Returns shell lines for the user's files on every machine. */
function extraFiles({ files }: ClusterSpecification): string {
  return files
    .map(({ path, content, mode, owner }) =>
      [writeFile(path, content, mode), ...(owner ? [giveTo(owner, path, mode)] : [])].join("\n"),
    )
    .join("\n");
}

/**
 * Returns the step that prepares one machine for kubeadm. It does nothing on a machine that has joined, refuses one
 * with another owner's Kubernetes, and does nothing twice. Its secret data is the registries' credentials
 * (registryCredentialsToml). Its answer is empty.
 *
 * @param backends the control planes, for the loopback endpoint's first configuration
 */
export function prepareScript(
  specification: ClusterSpecification,
  machine: Pick<Machine, "name" | "internalAddress">,
  backends: Backend[],
): Script {
  const { endpoint, network, source, version } = specification;
  return frame(
    "prepare",
    machine.name,
    [
      refuseUnsupportedSystem(machine.name),
      refuseForeignMachine(specification.name, machine.name),
      `if [ -e ${NODE_PATHS.member} ]; then exit 0; fi`,
      claimMachine(specification.name, machine.name),
      configureEnvironment(specification),
      prepareKernel(),
      installDistributionPackages(specification),
      installKubernetes(source, version),
      configureContainerd(specification),
      importBundleImages(specification, version),
      ...(specification.files.length > 0 ? [extraFiles(specification)] : []),
      ...("loopback" in endpoint ? [configureEndpoint(endpoint.loopback.port, backends)] : []),
      ...(network.holdNodeAddress ? [holdOwnAddress(machine.internalAddress)] : []),
      ...(network.bridge ? [configureBridge(machine.name, machine.internalAddress, network.podCidr)] : []),
      "systemctl daemon-reload",
      "systemctl enable --quiet kubelet",
    ].join("\n"),
  );
}
