import * as pulumi from "@pulumi/pulumi";
import type { OidcIssuer } from "../../providers/azimuth/plan/cluster-values";
import { EtcdKey } from "../../providers/azimuth/resources/etcd-key";
import { RecordPrune } from "../../providers/azimuth/resources/record-prune";
import { ServiceSync } from "../../providers/azimuth/resources/service-sync";
import { StatusStamp } from "../../providers/azimuth/resources/status-stamp";
import type { Owner } from "../../providers/kubernetes/plan/adoption";
import type { JsonObject } from "../../lib/merge";
import { orEmpty } from "../../lib/pulumi/left-out";
import { type AzimuthClusterArgs, type ClusterContext, contextOf } from "./azimuth-cluster-args";
import { installClusterChart } from "./chart";
import { adoptOidcClient, adoptPlatform, findRealm } from "./identity";
import { adoptLease } from "./lease";
import { findSources, makeOwner, ownerReference } from "./owner";
import { chartValues, fingerprintOf, warnOfUnreservedSizes } from "./values";
import { exposeApiServer, installZenithOperator, managementProvider } from "./zenith";

/**
 * A cluster through Azimuth: does what azimuth-capi-operator does for an Azimuth Cluster, with a resource for each
 * step. The chart openstack-cluster creates the machines through Cluster API; nothing here waits for them.
 *
 * The parts are those of the components `Realm`, `OidcClient`, `Platform`, `Lease`, `ZenithApiServer` and
 * `ZenithOperator`. Here they are children of the cluster itself, so that the resources of an existing stack keep their
 * URNs (docs/adr/0025-azimuth-parts.md).
 */
export class AzimuthCluster extends pulumi.ComponentResource {
  /** The users' OpenID Connect issuer; undefined for a cluster without OpenID Connect. */
  readonly oidc: pulumi.Output<OidcIssuer | undefined>;
  /** Zenith's host name for the API server; undefined without Zenith. */
  readonly apiHost: pulumi.Output<string | undefined>;
  /** Requested sizes → flavors that the Lease reserved; empty without a Lease. */
  readonly sizes: pulumi.Output<Record<string, string>>;

  private readonly context: ClusterContext;
  /** Arguments of every resource of the cluster. */
  private readonly common: { kubeconfig: pulumi.Output<string>; namespace: string; cluster: string };

  constructor(name: string, args: AzimuthClusterArgs, opts?: pulumi.ComponentResourceOptions) {
    super("foresail:azimuth:AzimuthCluster", name, {}, opts);
    this.context = contextOf(name, args, this);
    const { namespace, kubeconfig } = this.context;
    this.common = { kubeconfig, namespace, cluster: name };

    const sources = findSources(this.context);
    const template = orEmpty(sources.template.values).apply(({ values }) => (values ?? {}) as JsonObject);
    const owner = makeOwner(this.context, [sources.template, sources.credentials]);
    const controller = ownerReference(this.context, owner, true);
    const started = [owner, ...this.stamp("start", template, [owner])];
    const etcdKey = new EtcdKey(`${name}-etcd-key`, this.common, { parent: this, dependsOn: started });
    const identity = this.makeIdentity(controller, started);
    const before = identity ? [identity.services] : started;
    const lease = this.adoptLease(ownerReference(this.context, owner, false), before);
    if (lease) warnOfUnreservedSizes(this.context, template, lease.sizes);
    const provider = managementProvider(`${name}-management`, this.common, { parent: this });
    const leased = lease ? [lease.lease] : [];
    const exposed = this.exposeApiServer(controller, provider, [...leased, ...before]);
    const values = chartValues(this.context, {
      template,
      ...(identity ? { identity } : {}),
      ...(lease ? { sizes: lease.sizes } : {}),
      ...(exposed ? { zenith: exposed.values } : {}),
    });
    const release = installClusterChart(this.context, values, provider, [
      ...[etcdKey, ...before, ...leased],
      ...(exposed ? [exposed.key] : []),
    ]);
    const operator = this.installZenithOperator(controller, provider, [release]);
    this.finish(values, [release, ...operator]);

    this.oidc = pulumi.output(identity?.issuer) as pulumi.Output<OidcIssuer | undefined>;
    this.apiHost = pulumi.output(exposed?.key.fqdn);
    this.sizes = pulumi.output(lease?.sizes).apply((known) => known ?? {});
    this.registerOutputs({ oidc: this.oidc, apiHost: this.apiHost, sizes: this.sizes });
  }

  /** Writes the time when the specification or the template's values change, if a record is kept. */
  private stamp(
    moment: "start" | "end",
    values: pulumi.Output<unknown>,
    dependsOn: pulumi.Resource[],
  ): StatusStamp[] {
    const { name, args } = this.context;
    if (!args.record) return [];
    const { cluster, charts, values: defaults, nodeGroupOverrides, zenith, identity } = args;
    const desired = { cluster, charts, defaults, nodeGroupOverrides, zenith, identity };
    const fingerprint = values.apply((known) => fingerprintOf({ ...desired, values: known }));
    const resource = `${name}-${moment === "start" ? "started" : "finished"}`;
    return [new StatusStamp(resource, { ...this.common, moment, fingerprint }, { parent: this, dependsOn })];
  }

  /** Creates what the cluster's users log in with: Realm, OIDCClient, Platform and services, one after another. */
  private makeIdentity(owner: pulumi.Output<Owner>, dependsOn: pulumi.Resource[]) {
    const { name, args } = this.context;
    if (!args.identity) return undefined;
    const timeoutSeconds = args.timeouts.identitySeconds;
    const { zenithIdentityRealmName } = args.cluster;
    const { realm, realmName, status } = findRealm(
      `${name}-realm`,
      { ...this.common, realmName: zenithIdentityRealmName, timeoutSeconds },
      { parent: this, dependsOn },
    );
    const inRealm = { ...this.common, realmName, owner, adopt: args.adopt, timeoutSeconds };
    const after = (resource: pulumi.Resource) => ({ parent: this, dependsOn: [resource] });
    const { client, issuer } = adoptOidcClient(`${name}-oidc-client`, inRealm, after(realm));
    const { platform, rootGroup } = adoptPlatform(`${name}-platform`, inRealm, after(client));
    const services = new ServiceSync(
      `${name}-services`,
      { ...this.common, hasRecord: args.record },
      after(platform),
    );
    return { status, issuer, rootGroup, services };
  }

  private adoptLease(owner: pulumi.Output<Owner>, dependsOn: pulumi.Resource[]) {
    const { name, args } = this.context;
    const { leaseName } = args.cluster;
    if (leaseName === undefined) return undefined;
    const options = { owner, adopt: args.adopt, timeoutSeconds: args.timeouts.leaseSeconds };
    return adoptLease(
      `${name}-lease`,
      { ...this.common, leaseName, ...options },
      { parent: this, dependsOn },
    );
  }

  private exposeApiServer(
    owner: pulumi.Output<Owner>,
    provider: pulumi.ProviderResource,
    dependsOn: pulumi.Resource[],
  ) {
    const { name, args } = this.context;
    const { zenith, charts, timeouts, cluster } = args;
    if (!zenith) return undefined;
    const { monitoring } = cluster.addons;
    const options = { chart: charts.zenithApiServer, monitoring, timeoutSeconds: timeouts.zenithSeconds };
    const opts = { parent: this, dependsOn };
    return exposeApiServer(
      `${name}-zenith-key`,
      { ...this.common, zenith, owner, ...options },
      provider,
      opts,
    );
  }

  private installZenithOperator(
    owner: pulumi.Output<Owner>,
    provider: pulumi.ProviderResource,
    dependsOn: pulumi.Resource[],
  ): pulumi.Resource[] {
    const { name, args } = this.context;
    const { zenith, charts } = args;
    if (!zenith) return [];
    const { projectId } = zenith;
    const part = { ...this.common, zenith, projectId, owner, chart: charts.zenithOperator };
    return [installZenithOperator(`${name}-zenith-operator`, part, { parent: this, provider, dependsOn })];
  }

  /** Writes the time again, and updates the nodes and addons in the record. */
  private finish(values: pulumi.Output<unknown>, after: pulumi.Resource[]): void {
    const { name, args } = this.context;
    if (!args.record) return;
    const { leaseName } = args.cluster;
    new RecordPrune(
      `${name}-prune`,
      { ...this.common, ...(leaseName === undefined ? {} : { leaseName }) },
      { parent: this, dependsOn: this.stamp("end", values, after) },
    );
  }
}
