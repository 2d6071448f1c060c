import { KindNotServed, KubernetesError } from "./errors";
import type { ObjectRef } from "./objects";

/** The plural name and the scope of a kind. */
export interface Resource {
  plural: string;
  isNamespaced: boolean;
}

const KNOWN: Record<string, Resource> = {
  "v1 Node": { plural: "nodes", isNamespaced: false },
  "v1 Namespace": { plural: "namespaces", isNamespaced: false },
  "v1 Pod": { plural: "pods", isNamespaced: true },
  "v1 Secret": { plural: "secrets", isNamespaced: true },
  "v1 Service": { plural: "services", isNamespaced: true },
  "v1 Event": { plural: "events", isNamespaced: true },
  "v1 ConfigMap": { plural: "configmaps", isNamespaced: true },
  "apps/v1 Deployment": { plural: "deployments", isNamespaced: true },
  "apps/v1 DaemonSet": { plural: "daemonsets", isNamespaced: true },
  "v1 ServiceAccount": { plural: "serviceaccounts", isNamespaced: true },
  "rbac.authorization.k8s.io/v1 Role": { plural: "roles", isNamespaced: true },
  "rbac.authorization.k8s.io/v1 RoleBinding": { plural: "rolebindings", isNamespaced: true },
  "rbac.authorization.k8s.io/v1 ClusterRole": { plural: "clusterroles", isNamespaced: false },
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": { plural: "clusterrolebindings", isNamespaced: false },
  "policy/v1 PodDisruptionBudget": { plural: "poddisruptionbudgets", isNamespaced: true },
  "coordination.k8s.io/v1 Lease": { plural: "leases", isNamespaced: true },
};

interface Discovery {
  resources?: { name: string; kind: string; namespaced: boolean }[];
}

interface Group {
  versions?: { groupVersion: string }[];
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
    const served: string[] = [];
    for (const { groupVersion } of await this.versionsOfGroup(group)) {
      const resource = await this.resource(groupVersion, kind).catch(noneWhenNotServed);
      if (resource) served.push(groupVersion);
    }
    return served;
  }

  private async versionsOfGroup(group: string): Promise<{ groupVersion: string }[]> {
    try {
      // the server lists the preferred version first
      return ((await this.ask(`/apis/${group}`)) as Group).versions ?? [];
    } catch (error) {
      if (error instanceof KubernetesError && error.status === 404) return [];
      throw error;
    }
  }

  private async resource(apiVersion: string, kind: string): Promise<Resource> {
    const key = `${apiVersion} ${kind}`;
    const known = KNOWN[key] ?? this.discovered.get(key);
    if (known) return known;
    const { resources = [] } = await this.discover(apiVersion, kind);
    for (const { name, kind: found, namespaced } of resources) {
      if (name.includes("/")) continue;
      this.discovered.set(`${apiVersion} ${found}`, { plural: name, isNamespaced: namespaced });
    }
    const resource = this.discovered.get(key);
    if (!resource) throw new KindNotServed(apiVersion, kind);
    return resource;
  }

  private async discover(apiVersion: string, kind: string): Promise<Discovery> {
    try {
      return (await this.ask(group(apiVersion))) as Discovery;
    } catch (error) {
      if (error instanceof KubernetesError && error.status === 404) throw new KindNotServed(apiVersion, kind);
      throw error;
    }
  }
}

function group(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

function noneWhenNotServed(error: unknown): undefined {
  if (!(error instanceof KindNotServed)) throw error;
}
