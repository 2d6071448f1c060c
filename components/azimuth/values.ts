import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import {
  clusterValues,
  type OidcIssuer,
  roleBindingValues,
  unreservedSizes,
} from "../../providers/azimuth/plan/cluster-values";
import type { JsonObject } from "../../lib/merge";
import { warn } from "../../lib/pulumi/log";
import { nearest } from "../../lib/validation/spelling";
import type { ClusterContext } from "./azimuth-cluster-args";
import type { RealmStatus } from "./tenancy-objects";
import { listed } from "../../lib/text/quote";

/** The sources of a cluster's values; those that it does not use are undefined. */
export interface ValueSources {
  /** `spec.values` of the template */
  template: pulumi.Output<JsonObject>;
  identity?: {
    status: pulumi.Output<RealmStatus>;
    issuer: pulumi.Output<Partial<OidcIssuer>>;
    rootGroup: pulumi.Output<string | undefined>;
  };
  /** requested sizes → flavors of the Lease */
  sizes?: pulumi.Output<Record<string, string> | undefined>;
  zenith?: pulumi.Output<JsonObject>;
}

/** Returns the values of the cluster's chart. */
export function chartValues(
  { args }: ClusterContext,
  { template, identity, sizes, zenith }: ValueSources,
): pulumi.Output<JsonObject> {
  const { defaultClusterRole, defaultUserClusterRole, defaultUserNamespaceRole } = args.identity ?? {};
  const role = defaultUserClusterRole ?? (defaultClusterRole ? { name: defaultClusterRole } : undefined);
  return pulumi
    .all([template, identity?.issuer, identity?.rootGroup, identity?.status, sizes, zenith])
    .apply(([fromTemplate, issuer, rootGroup = "", realm, leased, fromZenith]) => {
      const { issuerUrl, clientId } = issuer ?? {};
      return clusterValues(args.cluster, {
        defaults: args.values,
        template: fromTemplate,
        nodeGroupOverrides: args.nodeGroupOverrides,
        oidc: issuerUrl && clientId ? { issuerUrl, clientId } : undefined,
        roleBindings:
          (role ?? defaultUserNamespaceRole) &&
          identity &&
          roleBindingValues({
            role,
            namespaceRole: defaultUserNamespaceRole,
            rootGroup,
            ...(realm?.platformUsersGroup === undefined
              ? {}
              : { platformUsersGroup: realm.platformUsersGroup }),
          }),
        sizes: leased,
        zenith: fromZenith,
      });
    });
}

/**
 * Warns of sizes that the Lease did not reserve, as soon as template and Lease can be read: their machines count
 * against no reservation, and no other component reports that.
 */
export function warnOfUnreservedSizes(
  { name, args }: ClusterContext,
  template: pulumi.Output<JsonObject>,
  reserved: pulumi.Output<Record<string, string> | undefined>,
): void {
  pulumi.all([template, reserved]).apply(([fromTemplate, sizes]) => {
    if (sizes === undefined) return;
    const values = clusterValues(args.cluster, { defaults: args.values, template: fromTemplate });
    for (const { where, size } of unreservedSizes(values, sizes)) {
      const meant = nearest(size, Object.keys(sizes));
      const known = listed(Object.keys(sizes).sort()) || "none";
      void warn(
        `${name}: the Lease reserved nothing of the size "${size}" of ${where}` +
          (meant === undefined ? `; it has ${known}` : `; did you mean "${meant}"?`),
      );
    }
  });
}

/** Returns a hash that distinguishes sets of values without revealing them. */
export function fingerprintOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}
