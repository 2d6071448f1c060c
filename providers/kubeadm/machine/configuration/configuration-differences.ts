import type { FileDifference } from "../../../../lib/text/unified-diff";
import { API_SERVER_PORT } from "../../../../lib/validation/ports";
import type { KubeadmObjects } from "../../plan/adoption/adoption-facts";
import { controlPlanesOf, type Machine } from "../../plan/cluster/machine";
import { madePrivate } from "../../plan/hardening/private-files";
import type { ClusterSpecification } from "../../plan/cluster/specification";
import { pathsToRemove } from "../../plan/configuration/rolled-configuration";
import { assertAddresses, assertSettings } from "../../plan/validation/settings";
import { documents, initConfiguration, KUBEADM } from "./configuration";
import { reading } from "../adoption/adoption-steps";
import { endpointParameters, proxyVariables, settingsParameters } from "../parameters";
import { backendsOf, ownerParameters, type Script } from "../steps";
import { patchFolders, specificationOf } from "../../plan/cluster/pools";

/** Folder without certificates: beside a worker's, which have no key of the authority, kubeadm writes no configuration. */
export const NO_CERTIFICATES = "/nonexistent/foresail";

/** What changes on a machine besides the files of a specification. */
interface Change {
  /** Paths of files that were configured before. */
  removed: readonly string[];
  /** Paths of files that only machines of some pools have; absent for none. */
  poolPaths?: readonly string[];
  /** Pools that a change has concerned; absent for none. */
  changedPools?: readonly string[];
  /** Whether kubeadm gets other settings. */
  kubeadm: boolean;
  /** Whether the member of etcd on it gets other settings. */
  etcd?: boolean;
  /** Whether the API server on it gets a certificate with other names. */
  certificate?: boolean;
  /** Names that were configured before; absent for none. */
  removedNames?: readonly string[];
  /** Endpoints that nodes had before; absent for none. */
  formerEndpoints?: readonly string[];
  /** Whether others made the cluster: each of its machines has an address and a container runtime of its own. */
  adopted?: boolean;
}

/**
 * Reads which files a configuration will change on a node, for parseConfigurationDifferences. Without the frame of other
 * steps: it changes nothing on the machine, and waits for no other step. Data: configurationData, or of a cluster that
 * others made mergedConfigurationData.
 */
export function configurationDifferencesScript(
  cluster: ClusterSpecification,
  member: Machine,
  machines: readonly Machine[],
  {
    removed,
    poolPaths = [],
    changedPools = [],
    removedNames = [],
    formerEndpoints,
    kubeadm,
    etcd = false,
    certificate = false,
    adopted = false,
  }: Change,
): Script {
  assertSettings(cluster);
  const { name: machine, role } = member;
  const specification = specificationOf(cluster, member);
  const backends = backendsOf(machines);
  assertAddresses(backends);
  const patches = patchFolders(specification);
  const { paths: privatePaths, folder: privateFolder } = madePrivate(specification);
  return reading("configuration-differences")(specification.name, machine, {
    ...ownerParameters(specification.name, machine),
    ...settingsParameters(specification, role),
    PROXY: proxyVariables(
      specification,
      backends.map(({ address }) => address),
    ),
    REMOVED_PATHS: pathsToRemove({ removed, poolPaths, changedPools }, specification, member.group),
    REMOVED_NAMES: removedNames,
    ...endpointParameters(specification, formerEndpoints),
    KUBEADM: kubeadm,
    ETCD: etcd,
    CERTIFICATE: certificate,
    CONTROL_PLANE: role === "control-plane",
    PATCHES_OF_INIT: patches.init ?? "",
    PATCHES_OF_JOIN: patches.join ?? "",
    NO_CERTIFICATES,
    OWN_ADDRESS: adopted,
    PRIVATE_PATHS: privatePaths,
    PRIVATE_FOLDER: privateFolder,
  });
}

/** Tries kube-proxy with a changed configuration, for parseRefusingPrograms. Changes nothing. Data: that of initConfiguration. */
export const triedKubeProxyScript = reading("tried-kube-proxy");

/** Returns the kubeadm configuration from which kubeadm writes a machine's static pods and its kubelet's configuration. */
export function configurationData(
  specification: ClusterSpecification,
  machine: Machine,
  machines: readonly Machine[],
): string {
  const { clusterConfiguration = {} } = specification.kubeadm;
  const certificates = machine.role === "worker" ? { certificatesDir: NO_CERTIFICATES } : {};
  // what a machine was initialized or joined with is not part of a configuration that rolls out
  const kubeadm = { clusterConfiguration: { ...clusterConfiguration, ...certificates } };
  return initConfiguration({ ...specification, kubeadm }, machine, controlPlanesOf(machines));
}

/**
 * Returns the kubeadm configuration from which kubeadm writes a machine's static pods and its kubelet's configuration in a
 * cluster that others made. The machine itself knows its address and its container runtime.
 *
 * @param objects kubeadm's own in the cluster, with the stack's settings
 */
export function mergedConfigurationData(
  { clusterConfiguration, kubelet, kubeProxy }: KubeadmObjects,
  { name, role, internalAddress: advertiseAddress }: Pick<Machine, "name" | "role" | "internalAddress">,
): string {
  const init = {
    // kubeadm reads no file of two versions
    apiVersion: clusterConfiguration?.apiVersion ?? KUBEADM,
    kind: "InitConfiguration",
    nodeRegistration: { name, criSocket: "unix:///run/containerd/containerd.sock" },
    localAPIEndpoint: { advertiseAddress, bindPort: API_SERVER_PORT },
  };
  const certificates = role === "worker" ? { certificatesDir: NO_CERTIFICATES } : {};
  const objects = [init, { ...clusterConfiguration, ...certificates }, kubelet, kubeProxy];
  return documents(objects.filter((object) => object !== undefined));
}

/** Parses the answer of configurationDifferencesScript. @throws Error when the text is not one */
export function parseConfigurationDifferences(answer: string): FileDifference[] {
  return answer
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith(REFUSED))
    .map((line) => {
      const [path = "", before, after, modeBefore, modeAfter, ...rest] = line.split(" ");
      if (modeAfter === undefined || rest.length > 0)
        throw new Error("the machine answered something else than the files that differ");
      return {
        path: decoded(path),
        ...stateOf("before", before, modeBefore),
        ...stateOf("after", after, modeAfter),
      };
    });
}

const REFUSED = "refused ";

/** A program of a machine that ends at its start with the files that it would get. */
export interface RefusingProgram {
  program: string;
  /** Its own last words. */
  words: string;
}

/** Parses which programs refuse their files in the answer of configurationDifferencesScript or triedKubeProxyScript. */
export function parseRefusingPrograms(answer: string): RefusingProgram[] {
  return answer.split("\n").flatMap((line) => {
    const [program, words] = line.startsWith(REFUSED) ? line.slice(REFUSED.length).split(" ") : [];
    return program === undefined || words === undefined ? [] : [{ program, words: decoded(words) }];
  });
}

const decoded = (text: string): string => Buffer.from(text, "base64").toString("utf8");

function stateOf(name: "before" | "after", content = "-", mode = "-") {
  if (!content.startsWith("=")) return {};
  const text = { content: decoded(content.slice(1)) };
  return { [name]: mode === "-" ? text : { ...text, mode: mode.replace(",", " ") } };
}
