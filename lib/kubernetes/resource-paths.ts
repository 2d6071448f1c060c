import { KindNotServed, KubernetesError } from "./errors";
import type { ObjectRef } from "./objects";

/** The plural name and the scope of a kind. */
interface Resource {
  plural: string;
  isNamespaced: boolean;
}

/** Common kinds, whose paths need no request. */
const NAMESPACED: Record<string, string[]> = {
  v1: ["Pod", "Secret", "Service", "Event", "ConfigMap", "ServiceAccount"],
  "apps/v1": ["Deployment", "DaemonSet"],
  "rbac.authorization.k8s.io/v1": ["Role", "RoleBinding"],
  "policy/v1": ["PodDisruptionBudget"],
  "coordination.k8s.io/v1": ["Lease"],
  "discovery.k8s.io/v1": ["EndpointSlice"],
};
const CLUSTER_SCOPED: typeof NAMESPACED = {
  v1: ["Node", "Namespace"],
  "storage.k8s.io/v1": ["VolumeAttachment"],
  "rbac.authorization.k8s.io/v1": ["ClusterRole", "ClusterRoleBinding"],
  "admissionregistration.k8s.io/v1": [
    ...["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
    ...["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"],
  ],
  "apiregistration.k8s.io/v1": ["APIService"],
};

function knownResource(apiVersion: string, kind: string): Resource | undefined {
  const isNamespaced = NAMESPACED[apiVersion]?.includes(kind) ?? false;
  const isKnown = isNamespaced || CLUSTER_SCOPED[apiVersion]?.includes(kind);
  return isKnown ? { plural: `${kind.toLowerCase()}s`.replace(/ys$/, "ies"), isNamespaced } : undefined;
}

/** Finds the API paths of objects: from a table for common kinds, from API discovery for others. */
export class ResourcePaths {
  private readonly discovered = new Map<string, Resource>();

  /** @param ask GETs a path and returns the JSON */
  constructor(private readonly ask: (path: string) => Promise<unknown>) {}

  /** Returns the path of one object. @throws KindNotServed */
  async ofObject(ref: ObjectRef): Promise<string> {
    return `${await this.ofKind({ ...ref, namespace: ref.namespace ?? "default" })}/${encodeURIComponent(ref.name)}`;
  }

  /** Returns the path of a kind's objects in one namespace, or in all namespaces without one. */
  async ofKind(kind: Omit<ObjectRef, "name">): Promise<string> {
    const resource = await this.resource(kind.apiVersion, kind.kind);
    const within =
      resource.isNamespaced && kind.namespace ? `/namespaces/${encodeURIComponent(kind.namespace)}` : "";
    return `${group(kind.apiVersion)}${within}/${resource.plural}`;
  }

  /**
   * Returns the versions in which the API serves a kind of a group, the preferred one first; empty when it does not.
   */
  async versionsOf(group: string, kind: string): Promise<string[]> {
    // the server lists the preferred version first
    type Versions = { versions?: { groupVersion: string }[] } | undefined;
    const { versions = [] } = ((await this.askOrNothing(`/apis/${group}`)) as Versions) ?? {};
    const served = await Promise.all(versions.map(({ groupVersion }) => this.serves(groupVersion, kind)));
    return versions.map(({ groupVersion }) => groupVersion).filter((_, index) => served[index]);
  }

  /** Returns whether the API serves a kind in a version. */
  async serves(apiVersion: string, kind: string): Promise<boolean> {
    try {
      await this.resource(apiVersion, kind);
      return true;
    } catch (error) {
      if (error instanceof KindNotServed) return false;
      throw error;
    }
  }

  private async resource(apiVersion: string, kind: string): Promise<Resource> {
    const key = `${apiVersion} ${kind}`;
    const known = knownResource(apiVersion, kind) ?? this.discovered.get(key);
    if (known) return known;
    type Discovered = { resources?: { name: string; kind: string; namespaced: boolean }[] } | undefined;
    const { resources = [] } = ((await this.askOrNothing(group(apiVersion))) as Discovered) ?? {};
    for (const { name, kind: found, namespaced } of resources) {
      if (name.includes("/")) continue;
      this.discovered.set(`${apiVersion} ${found}`, { plural: name, isNamespaced: namespaced });
    }
    const resource = this.discovered.get(key);
    if (!resource) throw new KindNotServed(apiVersion, kind);
    return resource;
  }

  /** GETs a path; undefined when the server does not have it. */
  private async askOrNothing(path: string): Promise<unknown> {
    return this.ask(path).catch((error: unknown) => {
      if (!(error instanceof KubernetesError && error.status === 404)) throw error;
    });
  }
}

function group(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}
