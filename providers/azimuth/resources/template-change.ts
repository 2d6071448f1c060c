import type { KubernetesClient } from "../../../lib/kubernetes";
import { API, azimuthRefs, isOf, type Marked } from "../plan/names";
import { type TemplateFacts, templateChangeRefusal } from "../plan/template-change";
import type { GuardArgs } from "../../kubernetes/resources/inputs";

/** The cluster of the template. */
export interface TemplateGuard {
  rule: "azimuth/TemplateChange";
  namespace: string;
  cluster: string;
  /** whether an Azimuth Cluster is kept, which names the cluster's current template */
  hasRecord: boolean;
}

interface Template {
  metadata?: { name?: string };
  spec?: { deprecated?: boolean; values?: { kubernetesVersion?: unknown } };
}

const API_KIND = { apiVersion: API.azimuth, kind: "ClusterTemplate" };

function factsOf({ metadata, spec }: Template, name: string): TemplateFacts {
  const version = spec?.values?.kubernetesVersion;
  return {
    name: metadata?.name ?? name,
    deprecated: spec?.deprecated ?? false,
    ...(typeof version === "string" ? { kubernetesVersion: version } : {}),
  };
}

/**
 * Returns why the cluster can't use the template. Its record names the current template, or else the state does; for a
 * deleted template, the version in the state is used.
 */
export async function refuseTemplateChange(
  management: KubernetesClient,
  { guard, before, object, live }: GuardArgs<TemplateGuard>,
): Promise<string | undefined> {
  const next = factsOf(live as Template, object.name);
  const record = guard.hasRecord
    ? await management.get<{ spec?: { templateName?: string } }>(azimuthRefs(guard).record)
    : undefined;
  const name = record?.spec?.templateName ?? before?.name;
  if (name === undefined || name === next.name)
    return templateChangeRefusal({
      ...(name === undefined ? {} : { current: next }),
      next,
      kubeletVersions: [],
    });
  const [template, machines] = await Promise.all([
    management.get<Template>({ ...API_KIND, name }),
    listMachines(management, guard),
  ]);
  const known = { spec: { values: before?.values["values"] as { kubernetesVersion?: unknown } } };
  return templateChangeRefusal({
    current: factsOf(template ?? (before?.name === name ? known : {}), name),
    next,
    kubeletVersions: machines.flatMap(({ spec }) => spec?.version ?? []),
  });
}

/** Returns the machines of the cluster; none before Cluster API is installed. */
async function listMachines(
  management: KubernetesClient,
  { namespace, cluster }: TemplateGuard,
): Promise<{ spec?: { version?: string } }[]> {
  const kind = { apiVersion: API.clusterApi, kind: "Machine", namespace };
  if (!(await management.paths.serves(kind.apiVersion, kind.kind))) return [];
  const machines = await management.list<Marked & { spec?: { version?: string } }>(kind);
  return machines.filter((machine) => isOf(cluster, machine));
}
