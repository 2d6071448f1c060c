import { isKnown } from "../../../../lib/unknown";
import { valueAt } from "../../../../lib/validation/validation-issue";
import { printable } from "../../../../lib/text/quote";
import { type ComponentTags, KUBERNETES_COMPONENTS } from "../cluster/kubernetes-components";
import type { ClusterSpecification } from "../cluster/specification";
import type { ClusterInitStep } from "../steps";
import { type AskedMachine, factOf, linesOf } from "./machine-reading";

/** Names of the components that people know. */
const NAMES = { etcd: "etcd", coredns: "CoreDNS", pause: "pause" } as const;

type Given = Pick<ClusterSpecification, "version" | "kubeadm">;

/**
 * Returns the versions of etcd, CoreDNS and pause with which `kubeadm init` starts a cluster, as the configuration or else the
 * table of versions has them; undefined for a version that the table does not have.
 *
 * @param tags those that a kubeadm on the machine has named
 */
export function componentsOfVersion(
  { version, kubeadm }: Given,
  tags: ComponentTags | undefined = tagsOf(version),
): string | undefined {
  if (tags === undefined) return undefined;
  const at = (path: string[]) => valueAt(kubeadm.clusterConfiguration ?? {}, path);
  const own = (path: string[], tag: string) => {
    const given = at(path);
    return typeof given === "string" && given !== "" ? given : tag;
  };
  const skipped = valueAt(kubeadm.initConfiguration ?? {}, ["skipPhases"]);
  const skips = (phase: string) => Array.isArray(skipped) && skipped.includes(phase);
  const hasDns = at(["dns", "disabled"]) !== true && !["addon", "addon/coredns"].some(skips);
  const used = {
    etcd: at(["etcd", "external"]) === undefined ? own(["etcd", "local", "imageTag"], tags.etcd) : undefined,
    coredns: hasDns ? own(["dns", "imageTag"], tags.coredns) : undefined,
    pause: tags.pause,
  };
  return Object.entries(NAMES)
    .flatMap(([image, name]) => {
      const tag = used[image as keyof ComponentTags];
      return tag === undefined ? [] : [`${name} ${printable(tag)}`];
    })
    .join(", ");
}

/** Returns the tags of a Kubernetes version; undefined for one that the table does not have. */
export const tagsOf = (version: string): ComponentTags | undefined =>
  Object.hasOwn(KUBERNETES_COMPONENTS, version) ? KUBERNETES_COMPONENTS[version] : undefined;

/**
 * Returns the versions of etcd, CoreDNS and pause of a kubeadm that is on the machine, or else those of the table; undefined if
 * neither has them.
 */
export function componentsOf(asked: AskedMachine): string | undefined {
  const tag = (image: string) => {
    const line = linesOf(asked, "images").find((each) => each.includes(`/${image}:`));
    return line?.slice(line.lastIndexOf(":") + 1);
  };
  const [etcd, coredns, pause] = [tag("etcd"), tag("coredns"), tag("pause")];
  if (etcd !== undefined && coredns !== undefined && pause !== undefined)
    return componentsOfVersion(asked.specification, { etcd, coredns, pause });
  const known = componentsOfVersion(asked.specification);
  return known ?? (factOf(asked, "images") === "unread" ? UNREAD : undefined);
}

/**
 * Returns the step that makes a cluster, with the versions of its components if they are known.
 *
 * @param first the first control plane; undefined while it is not known
 * @param read the components of a kubeadm on it
 */
export function initStep(specification: Given, first: string | undefined, read?: string): ClusterInitStep {
  if (first === undefined) return { kind: "init", machine: "the first control plane" };
  if (typeof specification !== "object" || !isKnown([specification.version, specification.kubeadm]))
    return { kind: "init", machine: first };
  const components = read ?? componentsOfVersion(specification);
  const { version } = specification;
  return { kind: "init", machine: first, ...(components === undefined ? {} : { version, components }) };
}

/** What is said of a kubeadm that did not answer in time, in a version that the table does not have. */
const UNREAD = "etcd, CoreDNS and pause unread";
