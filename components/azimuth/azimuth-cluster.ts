import * as pulumi from "@pulumi/pulumi";
import type { OidcIssuer } from "../../providers/azimuth/plan/cluster-values";
import { AZIMUTH_RENAMES } from "../../providers/azimuth/plan/validation";
import {
  ClusterReady,
  DestroyGuard,
  EtcdKey,
  RecordPrune,
  ServiceSync,
  StatusStamp,
} from "../../providers/azimuth/resources/declarations";
import type { OwnerRef } from "../../providers/kubernetes/plan/adoption";
import type { JsonObject } from "../../lib/merge";
import { kubernetesProviderIssues, refuseArguments, withCurrentNames } from "../../lib/pulumi/arguments";
import { orEmpty } from "../../lib/pulumi/left-out";
import { type AzimuthClusterArgs, type ClusterContext, contextOf } from "./azimuth-cluster-args";
import { stackOwner } from "../stack-owner";
import { installClusterChart, managementProvider } from "./chart";
import { findSources, makeOwner, ownerReference } from "./owner";
import { adoptLease, adoptOidcClient, adoptPlatform, findRealm } from "./tenancy-objects";
import { azimuthArgumentIssues } from "./validation";
import { chartValues, fingerprintOf, warnOfUnreservedSizes } from "./values";
import { exposeApiServer, installZenithOperator } from "./zenith";

/**
 * A cluster through Azimuth: does what azimuth-capi-operator does for an Azimuth Cluster, with a resource for each
 * step. The chart openstack-cluster creates the machines through Cluster API; only `waitForMachines` waits for them.
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
  /** The administrator's kubeconfig; undefined without `waitForMachines`. Secret. */
  readonly kubeconfig: pulumi.Output<string | undefined>;
  /** The cluster's phase at the end of the wait, as Azimuth shows it; undefined without `waitForMachines`. */
  readonly phase: pulumi.Output<string | undefined>;

  constructor(name: string, given: AzimuthClusterArgs, opts?: pulumi.ComponentResourceOptions) {
    const named = withCurrentNames(`AzimuthCluster ${name}`, given, AZIMUTH_RENAMES);
    refuseArguments(`AzimuthCluster ${name}`, [
      ...azimuthArgumentIssues(name, named),
      ...kubernetesProviderIssues(opts),
    ]);
    super("foresail:azimuth:AzimuthCluster", name, {}, opts);
    const context = contextOf(name, named, this);
    const { args, common } = context;
    const { charts, timeouts, cluster, zenith } = args;

    const sources = findSources(context);
    const template = orEmpty(sources.template.values).apply(({ values }) => (values ?? {}) as JsonObject);
    const record = makeOwner(context, [sources.template, sources.credentials]);
    const owner = ownerReference(context, record, true);
    const started = [record, ...stamp(context, "start", template, [record])];
    const etcdKey = new EtcdKey(`${name}-etcd-key`, common, { parent: this, dependsOn: started });
    const identity = makeIdentity(context, owner, started);
    const before = [identity?.services ?? syncServices(context, started)];
    const { leaseName } = cluster;
    const lease =
      leaseName === undefined
        ? undefined
        : adoptLease(
            `${name}-lease`,
            {
              ...common,
              leaseName,
              owner: ownerReference(context, record, false),
              adopt: args.adopt,
              takeOver: args.takeOver,
              timeoutSeconds: timeouts.leaseSeconds,
            },
            { parent: this, dependsOn: before },
          );
    if (lease) warnOfUnreservedSizes(context, template, lease.sizes);
    const provider = managementProvider(`${name}-management`, common, { parent: this });
    const leased = lease ? [lease.lease] : [];
    const exposed =
      zenith &&
      exposeApiServer(
        `${name}-zenith-key`,
        {
          ...common,
          zenith,
          owner,
          chart: charts.zenithApiServer,
          monitoring: cluster.addons.monitoring,
          dashboard: cluster.addons.dashboard,
          timeoutSeconds: timeouts.zenithSeconds,
        },
        provider,
        { parent: this, dependsOn: [...leased, ...before] },
      );
    const values = chartValues(context, {
      template,
      identity,
      sizes: lease?.sizes,
      zenith: exposed?.values,
    });
    const release = installClusterChart(context, values, provider, [
      ...[etcdKey, ...before, ...leased],
      ...(exposed ? [exposed.key] : []),
    ]);
    const installed: pulumi.Resource[] = [release];
    if (zenith) {
      const part = { ...common, zenith, projectId: zenith.projectId, owner, chart: charts.zenithOperator };
      const after = { parent: this, provider, dependsOn: release };
      installed.push(installZenithOperator(`${name}-zenith-operator`, part, after));
    }
    const ready = args.waitForMachines ? awaitMachines(context, values, [...installed]) : undefined;
    if (ready) installed.push(ready);
    const last = stamp(context, "end", values, installed);
    if (args.record)
      last.push(
        new RecordPrune(`${name}-prune`, { ...common, leaseName }, { parent: this, dependsOn: last }),
      );
    new DestroyGuard(
      `${name}-guard`,
      { ...common, stackOwner: stackOwner(), hasRecord: args.record },
      { parent: this, dependsOn: [...installed, ...last] },
    );

    this.oidc = pulumi.output(identity?.issuer) as pulumi.Output<OidcIssuer | undefined>;
    this.apiHost = pulumi.output(exposed?.key.fqdn);
    this.sizes = pulumi.output(lease?.sizes).apply((known) => known ?? {});
    this.kubeconfig = pulumi.secret(ready?.clusterKubeconfig);
    this.phase = pulumi.output(ready?.phase);
    const { oidc, apiHost, sizes, kubeconfig, phase } = this;
    this.registerOutputs({ oidc, apiHost, sizes, ...(ready ? { kubeconfig, phase } : {}) });
  }
}

/** Writes the time when the specification or the template's values change, if a record is kept. */
function stamp(
  { name, args, common, opts }: ClusterContext,
  moment: "start" | "end",
  values: pulumi.Output<unknown>,
  dependsOn: pulumi.Resource[],
): pulumi.Resource[] {
  if (!args.record) return [];
  const fingerprint = specificationFingerprint(args, values);
  const resource = `${name}-${moment === "start" ? "started" : "finished"}`;
  const { leaseName } = args.cluster;
  return [new StatusStamp(resource, { ...common, moment, fingerprint, leaseName }, { ...opts, dependsOn })];
}

/** Returns a hash of the specification and the values. */
function specificationFingerprint(args: ClusterContext["args"], values: pulumi.Output<unknown>) {
  const { cluster, charts, values: defaults, nodeGroupOverrides, zenith, identity } = args;
  const desired = { cluster, charts, defaults, nodeGroupOverrides, zenith, identity };
  return values.apply((known) => fingerprintOf({ ...desired, values: known }));
}

/** Waits until the cluster's machines are ready. */
function awaitMachines(
  { name, args, common, opts }: ClusterContext,
  values: pulumi.Output<unknown>,
  dependsOn: pulumi.Resource[],
): ClusterReady {
  const { leaseName } = args.cluster;
  return new ClusterReady(
    `${name}-ready`,
    {
      ...common,
      ...(leaseName === undefined ? {} : { leaseName }),
      fingerprint: specificationFingerprint(args, values),
      timeoutSeconds: args.timeouts.machinesSeconds,
    },
    { ...opts, dependsOn },
  );
}

/** Writes the cluster's services; Azimuth shows them even for a cluster without OpenID Connect. */
function syncServices(
  { name, args, common, opts }: ClusterContext,
  dependsOn: pulumi.Resource[],
): ServiceSync {
  return new ServiceSync(`${name}-services`, { ...common, hasRecord: args.record }, { ...opts, dependsOn });
}

/** Creates what the cluster's users log in with: Realm, OIDCClient, Platform and services, one after another. */
function makeIdentity(context: ClusterContext, owner: pulumi.Output<OwnerRef>, dependsOn: pulumi.Resource[]) {
  const { name, args, common, opts } = context;
  if (!args.identity) return undefined;
  const timeoutSeconds = args.timeouts.identitySeconds;
  const { realm, realmName, status } = findRealm(
    `${name}-realm`,
    { ...common, realmName: args.cluster.zenithIdentityRealmName, timeoutSeconds },
    { ...opts, dependsOn },
  );
  const inRealm = { ...common, realmName, owner, adopt: args.adopt, takeOver: args.takeOver, timeoutSeconds };
  const after = (resource: pulumi.Resource) => ({ ...opts, dependsOn: [resource] });
  const issuerUrl = status.apply(({ oidcIssuerUrl }) => oidcIssuerUrl);
  const { client, issuer } = adoptOidcClient(`${name}-oidc-client`, { ...inRealm, issuerUrl }, after(realm));
  const { platform, rootGroup } = adoptPlatform(`${name}-platform`, inRealm, after(client));
  const services = syncServices(context, [platform]);
  return { status, issuer, rootGroup, services };
}
