import * as pulumi from "@pulumi/pulumi";
import { withCurrentNames } from "../../lib/pulumi/renamed-arguments";
import { AZIMUTH_RENAMES } from "../../providers/azimuth/plan/validation";
import type { Owner } from "../../providers/kubernetes/plan/adoption";
import { EtcdKey } from "../../providers/azimuth/resources/etcd-key";
import { RecordPrune } from "../../providers/azimuth/resources/record-prune";
import { StatusStamp } from "../../providers/azimuth/resources/status-stamp";
import type { Adoption } from "../../providers/kubernetes/resources/adoption";
import type { AzimuthClusterArgs, ClusterContext } from "./azimuth-cluster-args";
import { installClusterChart } from "./chart";
import { type ClusterIdentity, makeIdentity } from "./identity";
import { adoptLease } from "./lease";
import { findSources, makeOwner, ownerReference } from "./owner";
import { chartValues, fingerprintOf, templateValues, warnOfUnreservedSizes } from "./values";
import { installZenithOperator, renderTunnel, reserveName, tunnelChartValues } from "./zenith";

interface LeaseStatus {
  sizeNameMap?: Record<string, string>;
}

/**
 * A cluster through Azimuth: does what azimuth-capi-operator does for an Azimuth Cluster, with a resource for each
 * step. The chart openstack-cluster creates the machines through Cluster API; nothing here waits for them.
 */
export class AzimuthCluster extends pulumi.ComponentResource {
  /** The users' OpenID Connect issuer; undefined for a cluster without OpenID Connect. */
  readonly oidc: pulumi.Output<{ issuerUrl: string; clientId: string } | undefined>;
  /** Zenith's host name for the API server; undefined without Zenith. */
  readonly apiHost: pulumi.Output<string | undefined>;
  /** Requested sizes → flavors that the Lease reserved; empty without a Lease. */
  readonly sizes: pulumi.Output<Record<string, string>>;

  private readonly context: ClusterContext;
  private readonly started: pulumi.Resource[];

  constructor(name: string, given: AzimuthClusterArgs, opts?: pulumi.ComponentResourceOptions) {
    super("foresail:azimuth:AzimuthCluster", name, {}, opts);
    const args = withCurrentNames(`AzimuthCluster ${name}`, given, AZIMUTH_RENAMES);
    const { namespace } = args;
    const kubeconfig = pulumi.secret(args.kubeconfig);
    this.context = { name, namespace, kubeconfig, args, opts: { parent: this } };

    const sources = findSources(this.context);
    const fromTemplate = templateValues(sources.template);
    const owner = makeOwner(this.context, [sources.template, sources.credentials]);
    const controller = ownerReference(this.context, owner, true);
    this.started = [owner, ...this.stamp("start", fromTemplate, [owner])];
    const etcdKey = new EtcdKey(
      `${name}-etcd-key`,
      { kubeconfig, namespace, cluster: name },
      { parent: this, dependsOn: this.started },
    );
    const identity = args.identity ? makeIdentity(this.context, controller, this.started) : undefined;
    const lease = this.adoptLease(ownerReference(this.context, owner, false), identity);
    if (lease) warnOfUnreservedSizes(name, args, fromTemplate, lease);
    const provider = this.provider();
    const { zenith } = args;
    const tunnel = zenith && renderTunnel(this.context, zenith, provider);
    const before = [...(lease ? [lease] : []), ...this.soFar(identity)];
    const key = zenith && tunnel && reserveName(this.context, zenith, tunnel, controller, before);
    const fromZenith = tunnel && key && tunnelChartValues(this.context, key, tunnel);
    const valueSources = {
      template: fromTemplate,
      ...(identity ? { identity } : {}),
      ...(lease ? { lease } : {}),
      ...(fromZenith ? { zenith: fromZenith } : {}),
    };
    const values = chartValues(args, valueSources);
    const release = installClusterChart(this.context, values, provider, [
      etcdKey,
      ...this.soFar(identity),
      ...(lease ? [lease] : []),
      ...(key ? [key] : []),
    ]);
    const operator = zenith
      ? [installZenithOperator(this.context, zenith, controller, provider, [release])]
      : [];
    this.finish(values, [release, ...operator]);

    this.oidc = pulumi.output(identity?.client.values).apply((values) => values as never);
    this.apiHost = pulumi.output(key?.fqdn);
    this.sizes = pulumi
      .output(lease?.values)
      .apply((values) => (values as { status?: LeaseStatus } | undefined)?.status?.sizeNameMap ?? {});
    this.registerOutputs({ oidc: this.oidc, apiHost: this.apiHost, sizes: this.sizes });
  }

  /** Writes the time when the specification or the template's values change, if a record is kept. */
  private stamp(
    moment: "start" | "end",
    values: pulumi.Output<unknown>,
    after: pulumi.Resource[],
  ): StatusStamp[] {
    const { name, namespace, kubeconfig, args } = this.context;
    if (!args.record) return [];
    const { cluster, charts, values: defaults, nodeGroupOverrides, zenith, identity } = args;
    const desired = { cluster, charts, defaults, nodeGroupOverrides, zenith, identity };
    const fingerprint = values.apply((known) => fingerprintOf({ ...desired, values: known }));
    return [
      new StatusStamp(
        `${name}-${moment === "start" ? "started" : "finished"}`,
        { kubeconfig, namespace, cluster: name, moment, fingerprint },
        { parent: this, dependsOn: after },
      ),
    ];
  }

  private adoptLease(
    owner: pulumi.Output<Owner>,
    identity: ClusterIdentity | undefined,
  ): Adoption | undefined {
    const { leaseName } = this.context.args.cluster;
    if (leaseName === undefined) return undefined;
    return adoptLease(this.context, leaseName, owner, this.soFar(identity));
  }

  private soFar(identity: ClusterIdentity | undefined): pulumi.Resource[] {
    return identity ? [identity.services] : this.started;
  }

  private provider(): pulumi.ProviderResource {
    const { name, kubeconfig, namespace } = this.context;
    /* eslint-disable @typescript-eslint/no-require-imports */
    const { Provider } =
      require("@pulumi/kubernetes/provider") as typeof import("@pulumi/kubernetes/provider");
    /* eslint-enable @typescript-eslint/no-require-imports */
    return new Provider(
      `${name}-management`,
      { kubeconfig, namespace, clusterIdentifier: `${namespace}/${name}`, enableServerSideApply: true },
      { parent: this },
    );
  }

  /** Writes the time again, and updates the nodes and addons in the record. */
  private finish(values: pulumi.Output<unknown>, after: pulumi.Resource[]): void {
    const { name, namespace, kubeconfig, args } = this.context;
    if (!args.record) return;
    const { leaseName } = args.cluster;
    new RecordPrune(
      `${name}-prune`,
      { kubeconfig, namespace, cluster: name, ...(leaseName === undefined ? {} : { leaseName }) },
      { parent: this, dependsOn: this.stamp("end", values, after) },
    );
  }
}
