import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import {
  clusterValues,
  unreservedSizes,
  roleBindingValues,
} from "../../providers/azimuth/plan/cluster-values";
import type { JsonObject } from "../../lib/merge";
import { nearest } from "../../lib/validation/spelling";
import type { Adoption } from "../../providers/kubernetes/resources/adoption";
import type { ObjectReady } from "../../providers/kubernetes/resources/object-ready";
import type { AzimuthClusterArgs } from "./azimuth-cluster-args";
import type { ClusterIdentity } from "./identity";

/** The sources of a cluster's values; those that it does not use are undefined. */
export interface ValueSources {
  /** from `templateValues` */
  template: pulumi.Output<JsonObject>;
  identity?: ClusterIdentity;
  lease?: Adoption;
  zenith?: pulumi.Output<JsonObject>;
}

/** Returns the template's values. */
export function templateValues(template: ObjectReady): pulumi.Output<JsonObject> {
  return template.values.apply(({ values }) => values as JsonObject);
}

interface Realm {
  platformUsersGroup?: string;
}

interface Lease {
  sizeNameMap?: Record<string, string>;
}

/** Returns the values of the cluster's chart. */
export function chartValues(
  args: AzimuthClusterArgs,
  { template, identity, lease, zenith }: ValueSources,
): pulumi.Output<JsonObject> {
  return pulumi
    .all([
      template,
      identity?.client.values,
      identity?.platform.values,
      identity?.realm.values,
      lease?.values,
      zenith,
    ])
    .apply(([fromTemplate, client, platform, realm, leased, fromZenith]) => {
      const sizes = leased && ((leased as { status?: Lease }).status?.sizeNameMap ?? {});
      const { issuerUrl, clientId } = (client ?? {}) as { issuerUrl?: string; clientId?: string };
      const { defaultClusterRole, defaultUserClusterRole } = args.identity ?? {};
      const role = defaultUserClusterRole ?? (defaultClusterRole ? { name: defaultClusterRole } : undefined);
      const { platformUsersGroup } = (realm?.status ?? {}) as Realm;
      const sources = {
        defaults: args.values,
        template: fromTemplate,
        nodeGroupOverrides: args.nodeGroupOverrides,
        ...(issuerUrl && clientId ? { oidc: { issuerUrl, clientId } } : {}),
        ...(role && platform
          ? {
              roleBindings: roleBindingValues({
                role,
                rootGroup: (platform as { rootGroup?: string }).rootGroup ?? "",
                ...(platformUsersGroup ? { platformUsersGroup } : {}),
              }),
            }
          : {}),
      };
      return clusterValues(args.cluster, {
        ...sources,
        ...(sizes ? { sizes } : {}),
        ...(fromZenith ? { zenith: fromZenith } : {}),
      });
    });
}

/**
 * Warns of sizes that the Lease did not reserve, as soon as template and Lease can be read: their machines count
 * against no reservation, and no other component reports that.
 */
export function warnOfUnreservedSizes(
  name: string,
  args: AzimuthClusterArgs,
  template: pulumi.Output<JsonObject>,
  lease: Adoption,
): void {
  pulumi.all([template, lease.values]).apply(([fromTemplate, leased]) => {
    const sizes = (leased as { status?: Lease }).status?.sizeNameMap ?? {};
    const values = clusterValues(args.cluster, { defaults: args.values, template: fromTemplate });
    warnOfUnreserved(name, values, sizes);
  });
}

function warnOfUnreserved(name: string, values: JsonObject, sizes: Readonly<Record<string, string>>): void {
  for (const { where, size } of unreservedSizes(values, sizes)) {
    const meant = nearest(size, Object.keys(sizes));
    const known = Object.keys(sizes).sort().join(", ") || "none";
    void pulumi.log.warn(
      `${name}: the Lease reserved nothing of the size "${size}" of ${where}` +
        (meant === undefined ? `; it has ${known}` : `; did you mean "${meant}"?`),
    );
  }
}

/** Returns a hash that distinguishes sets of values without revealing them. */
export function fingerprintOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}
