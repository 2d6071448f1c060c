import * as pulumi from "@pulumi/pulumi";
import { AzimuthCluster } from "../components/azimuth/azimuth-cluster";
import type { AzimuthClusterArgs } from "../components/azimuth/azimuth-cluster-args";
import { ownerReferenceOf, type AzimuthSpec } from "../providers/azimuth/plan/objects";
import { withoutUndefined } from "../providers/azimuth/plan/entries-patch";
import type { JsonObject } from "../lib/merge";
import type { ConfigurationOf, AzimuthSection } from "./schema";

/** Builds a stack of the system "azimuth": a cluster through Azimuth, made of objects on its management cluster. */
export function azimuth({
  azimuth: section,
  managementKubeconfig,
}: ConfigurationOf<"azimuth">): Record<string, pulumi.Output<unknown>> {
  const { namespace, identity, zenith, record, adopt, takeOver, timeouts, charts } = section;
  const made = new AzimuthCluster(section.name, {
    kubeconfig: managementKubeconfig,
    namespace,
    cluster: specification(section),
    identity: identity && withoutUndefined(identity),
    ...(zenith ? { zenith: zenith as AzimuthClusterArgs["zenith"] } : {}),
    charts,
    values: section.values as JsonObject,
    nodeGroupOverrides: section.nodeGroupOverrides as Record<string, JsonObject>,
    record,
    adopt,
    takeOver,
    waitForMachines: section.waitForMachines,
    timeouts,
  });
  const { oidc, apiHost, sizes, kubeconfig, phase } = made;
  const { name: cluster, leaseName } = section;
  const owner = ownerReferenceOf({ cluster }, record);
  const monitor = { namespace, cluster, hasRecord: record, leaseName, owner };
  const waited: Record<string, pulumi.Output<unknown>> = section.waitForMachines ? { kubeconfig, phase } : {};
  return { oidc, apiHost, sizes, ...waited, monitor: pulumi.output(monitor), managementKubeconfig };
}

/** Returns the desired cluster, without undefined fields, which the API would take as settings. The fingerprint in state depends on the order of the fields. */
function specification(section: AzimuthSection): AzimuthSpec {
  const { name, label = name, templateName, controlPlaneMachineSize, nodeGroups, autohealing } = section;
  const { zenithIdentityRealmName, leaseName, cloudCredentialsSecretName } = section;
  return withoutUndefined({
    label,
    templateName,
    cloudCredentialsSecretName,
    zenithIdentityRealmName,
    leaseName,
    autohealing,
    controlPlaneMachineSize,
    nodeGroups: nodeGroups.map((group) => withoutUndefined(group)),
    addons: withoutUndefined(section.addons),
  });
}
