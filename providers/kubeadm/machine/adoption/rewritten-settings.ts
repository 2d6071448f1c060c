import { isObject, parseJson } from "../../../../lib/json";
import { readYamlOf } from "../../../../lib/yaml";
import type { KubeadmObjects } from "../../plan/adoption/adoption-facts";
import { KUBELET_FILE, type RewrittenObject } from "../../plan/adoption/lost-settings";
import type { Machine } from "../../plan/cluster/machine";
import { namedFacts } from "./adoption-steps";
import { mergedConfigurationData, NO_CERTIFICATES } from "../configuration/configuration-differences";
import { stepFile } from "../operations";
import { renderShell, commandsOf } from "../shell";
import type { Script } from "../steps";

/** The line between two configurations of rewrittenData. */
const NEXT = "# foresail: the next configuration";

/** An addon of kubeadm, by its phase. */
type Addon = "kube-proxy" | "coredns";

/** Returns the addons that kubeadm writes in a cluster: those that its configuration has not disabled. */
export function writtenAddons({ clusterConfiguration = {} }: KubeadmObjects): Addon[] {
  const isDisabled = (field: "proxy" | "dns") => {
    const settings = clusterConfiguration[field];
    return isObject(settings) && settings.disabled === true;
  };
  return [
    ...(isDisabled("proxy") ? [] : ["kube-proxy" as const]),
    ...(isDisabled("dns") ? [] : ["coredns" as const]),
  ];
}

/** What of a machine is read. */
interface Reading {
  machine: Pick<Machine, "name" | "role">;
  /** The folders with the stack's patches for kubeadm; absent for none. */
  patches?: { init?: string; join?: string };
  /** The addons that are read, too, on a control plane. */
  addons: readonly Addon[];
  /** Whether the machine is about to be adopted. */
  adopts?: boolean;
}

/**
 * Reads what kubeadm writes again with a version on a machine of a cluster that others made, for parseRewritten. Without the
 * frame of other steps: it changes nothing, and waits for no other step. Data: rewrittenData.
 */
export function rewrittenSettingsScript({ machine, patches = {}, addons, adopts = false }: Reading): Script {
  const operation = "rewritten-settings";
  const text = renderShell(commandsOf([stepFile(operation)]), {
    NEXT,
    CONTROL_PLANE: machine.role === "control-plane",
    ADDONS: machine.role === "control-plane" ? addons : [],
    PATCHES_OF_INIT: patches.init ?? "",
    PATCHES_OF_JOIN: patches.join ?? "",
    ADOPTS: adopts,
    NO_CERTIFICATES,
  });
  const { name } = machine;
  return { operation, machine: name, text: `# foresail: ${operation} ${name}\n${text}\nexit 0` };
}

/**
 * Returns the kubeadm configurations of a machine, each once.
 *
 * @param configurations kubeadm's objects that the cluster had, has and gets
 */
export function rewrittenData(
  configurations: readonly KubeadmObjects[],
  machine: Pick<Machine, "name" | "role" | "internalAddress">,
): string {
  const texts = configurations.map((objects) => mergedConfigurationData(objects, machine));
  return [...new Set(texts)].map((text) => `${text.trimEnd()}\n`).join(`${NEXT}\n`);
}

/** The objects in the order in which they are listed, by their name in the answer. */
const OBJECTS: Readonly<Record<string, string>> = {
  "kube-apiserver": "the static pod kube-apiserver",
  "kube-controller-manager": "the static pod kube-controller-manager",
  "kube-scheduler": "the static pod kube-scheduler",
  etcd: "the static pod etcd",
  kubelet: KUBELET_FILE,
  "daemonset/kube-proxy": "the DaemonSet kube-proxy",
  "configmap/kube-proxy": "the ConfigMap kube-proxy",
  "deployment/coredns": "the Deployment coredns",
  "configmap/coredns": "the ConfigMap coredns",
  "service/kube-dns": "the Service kube-dns",
};

/** Parses the answer of rewrittenSettingsScript. @throws Error when a text is not that of an object */
export function parseRewritten(answer: string): RewrittenObject[] {
  const texts = namedFacts(answer);
  const read = (version: string, name: string) => parsed(name, texts.get(`${version}/${name}`));
  const count = [...texts.keys()].filter((key) => /^\d+\/kubelet$/.test(key)).length;
  return Object.entries(OBJECTS).flatMap(([name, object]) => {
    const current = read("current", name);
    const rendered = Array.from({ length: count }, (_, at) => read(String(at), name)).filter(isObject);
    if (current === undefined || (name === "configmap/coredns" && keepsCorefile(current, rendered)))
      return [];
    return [{ object, isOfCluster: name.includes("/"), current, rendered }];
  });
}

/** kubeadm leaves a Corefile that is not its own, and everything beside it. */
function keepsCorefile(current: unknown, rendered: readonly unknown[]): boolean {
  const corefile = (object: unknown) =>
    isObject(object) && isObject(object.data) ? object.data["Corefile"] : undefined;
  return !rendered.some((each) => corefile(each) === corefile(current));
}

function parsed(name: string, text: string | undefined): unknown {
  if (text === undefined) return undefined;
  const value: unknown = text.startsWith("{") ? parseJson(text) : readYamlOf(name, text);
  if (!isObject(value)) throw new Error(`the machine answered something else than an object for ${name}`);
  if (name !== "configmap/kube-proxy" || !isObject(value.data)) return value;
  // another form of the same configuration is not a difference
  const data = Object.entries(value.data).map(([key, item]): [string, unknown] => [
    key,
    typeof item === "string" ? readYamlOf(`${name}: ${key}`, item) : item,
  ]);
  return { ...value, data: Object.fromEntries(data) as unknown };
}
