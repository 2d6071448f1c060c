import * as pulumi from "@pulumi/pulumi";
import type { OidcIssuer } from "../../providers/azimuth/plan/cluster-values";
import { TIMEOUTS } from "../../providers/azimuth/plan/defaults";
import { API, INSTALLED_BY, LEASE_FINALIZER } from "../../providers/azimuth/plan/names";
import { oidcClient, platform } from "../../providers/azimuth/plan/objects";
import type { DesiredStatus } from "../../providers/kubernetes/plan/status";
import { ObjectReady } from "../../providers/kubernetes/resources/object-resources";
import { kubernetesProviderIssues, refuseArguments } from "../../lib/pulumi/arguments";
import { orEmpty } from "../../lib/pulumi/left-out";
import { Adoption, type AdoptionArgs } from "../adoption";
import type { TenancyArgs, TenancyObjectArgs } from "./azimuth-cluster-args";
import { partIssues } from "./validation";

const FAILED: DesiredStatus = {
  failures: [{ path: "status.phase", value: "Failed" }],
  messages: ["status.failureMessage"],
};

export interface RealmArgs extends TenancyArgs {
  /** Name of the Realm. @default the first one in the namespace */
  realmName?: string | undefined;
  /** Deadline in seconds. @default 600 */
  timeoutSeconds?: number;
}

/** The status of a Realm, as azimuth-identity-operator writes it. */
export interface RealmStatus {
  /** URL of the realm's OpenID Connect issuer. */
  oidcIssuerUrl?: string;
  /** Group of the tenancy's users; only a tenancy's realms have it. */
  platformUsersGroup?: string;
}

/** Reads a Realm, and waits until it is Ready. */
export function findRealm(
  name: string,
  { kubeconfig, namespace, realmName, timeoutSeconds = TIMEOUTS.identitySeconds }: RealmArgs,
  opts: pulumi.CustomResourceOptions,
) {
  const named = realmName === undefined ? {} : { name: realmName };
  const realm = new ObjectReady(
    name,
    {
      kubeconfig,
      installedBy: INSTALLED_BY.identity,
      timeoutSeconds,
      object: { apiVersion: API.identity, kind: "Realm", namespace, ...named },
      wait: { ...FAILED, equals: [{ path: "status.phase", value: "Ready" }], fields: { status: "status" } },
      mustExist: true,
    },
    opts,
  );
  return {
    realm,
    realmName: orEmpty(realm.object).apply(({ name: found }) => found) as pulumi.Output<string>,
    status: orEmpty(realm.values).apply(({ status }) => (status ?? {}) as RealmStatus),
  };
}

/** A Realm of the tenancy, in which users log in. Azimuth creates it; this component reads it and waits for it. */
export class Realm extends pulumi.ComponentResource {
  readonly realmName: pulumi.Output<string>;
  readonly status: pulumi.Output<RealmStatus>;

  constructor(name: string, args: RealmArgs, opts?: pulumi.ComponentResourceOptions) {
    refuseArguments(`Realm ${name}`, [...partIssues(args), ...kubernetesProviderIssues(opts)]);
    super("foresail:azimuth:Realm", name, {}, opts);
    const { realmName, status } = findRealm(name, args, { parent: this });
    this.realmName = realmName;
    this.status = status;
    this.registerOutputs({ realmName, status });
  }
}

/** Creates or adopts an object of a tenancy; the arguments decide on owner, adoption and deadline. */
function adoptObject(
  name: string,
  desired: Omit<AdoptionArgs, "kubeconfig" | "owners" | "adopt" | "takeOver">,
  { kubeconfig, owner, adopt = false, takeOver, timeoutSeconds }: TenancyObjectArgs,
  opts: pulumi.CustomResourceOptions,
): Adoption {
  const owners = owner === undefined ? undefined : [owner];
  const deadline = timeoutSeconds ?? desired.timeoutSeconds;
  const args = { ...desired, kubeconfig, owners, adopt, takeOver, timeoutSeconds: deadline };
  return new Adoption(name, args, opts);
}

/** An object of a cluster in a realm. */
export interface RealmObjectArgs extends TenancyObjectArgs {
  /** Name of the cluster; the object is `kube-<cluster>`. */
  cluster: string;
  /** Name of the Realm. */
  realmName: pulumi.Input<string>;
}

/** Creates or adopts an object in a realm, and waits until its status has these fields. */
function adoptInRealm(
  name: string,
  object: typeof oidcClient,
  wait: pulumi.Input<DesiredStatus>,
  args: RealmObjectArgs,
  opts: pulumi.CustomResourceOptions,
): Adoption {
  const waited = {
    object: object(args, args.realmName),
    wait,
    installedBy: INSTALLED_BY.identity,
    timeoutSeconds: TIMEOUTS.identitySeconds,
  };
  return adoptObject(name, waited, args, opts);
}

export interface OidcClientArgs extends RealmObjectArgs {
  /** The Realm's `status.oidcIssuerUrl`, for which the client waits. @default any */
  issuerUrl?: pulumi.Input<string | undefined>;
}

/** Creates or adopts the OIDCClient of a cluster. */
export function adoptOidcClient(name: string, args: OidcClientArgs, opts: pulumi.CustomResourceOptions) {
  const fields = { clientId: "status.clientId", issuerUrl: "status.issuerUrl" };
  const wait = pulumi.output(args.issuerUrl).apply((value): DesiredStatus => ({
    ...FAILED,
    fields,
    // a client that moved to another realm has the status of the former one at first
    ...(value === undefined ? {} : { equals: [{ path: fields.issuerUrl, value }] }),
  }));
  const client = adoptInRealm(name, oidcClient, wait, args, opts);
  return { client, issuer: orEmpty(client.values) as pulumi.Output<Partial<OidcIssuer>> };
}

/** The OIDCClient of a cluster: with it, the users of a realm log in to the cluster with kubectl. */
export class OidcClient extends pulumi.ComponentResource {
  readonly issuerUrl: pulumi.Output<string | undefined>;
  readonly clientId: pulumi.Output<string | undefined>;

  constructor(name: string, args: OidcClientArgs, opts?: pulumi.ComponentResourceOptions) {
    refuseArguments(`OidcClient ${name}`, [...partIssues(args), ...kubernetesProviderIssues(opts)]);
    super("foresail:azimuth:OidcClient", name, {}, opts);
    const { issuer } = adoptOidcClient(name, args, { parent: this });
    this.issuerUrl = issuer.apply(({ issuerUrl }) => issuerUrl);
    this.clientId = issuer.apply(({ clientId }) => clientId);
    this.registerOutputs({ issuerUrl: this.issuerUrl, clientId: this.clientId });
  }
}

/** Creates or adopts the Platform of a cluster. */
export function adoptPlatform(name: string, args: RealmObjectArgs, opts: pulumi.CustomResourceOptions) {
  const adopted = adoptInRealm(
    name,
    platform,
    { ...FAILED, fields: { rootGroup: "status.rootGroup" } },
    args,
    opts,
  );
  const rootGroup = orEmpty(adopted.values).apply((values) => values.rootGroup as string | undefined);
  return { platform: adopted, rootGroup };
}

/** The Platform of a cluster: the realm's groups for it. */
export class Platform extends pulumi.ComponentResource {
  /** The group that contains all groups of the cluster. */
  readonly rootGroup: pulumi.Output<string | undefined>;

  constructor(name: string, args: RealmObjectArgs, opts?: pulumi.ComponentResourceOptions) {
    refuseArguments(`Platform ${name}`, [...partIssues(args), ...kubernetesProviderIssues(opts)]);
    super("foresail:azimuth:Platform", name, {}, opts);
    const { rootGroup } = adoptPlatform(name, args, { parent: this });
    this.rootGroup = rootGroup;
    this.registerOutputs({ rootGroup });
  }
}

const LEASE_ENDED =
  "has ended or was deleted; run pulumi destroy, which takes the cluster down in order, or name another lease";

export interface LeaseArgs extends TenancyObjectArgs {
  /** Name of the Lease. */
  leaseName: string;
}

interface LeaseStatus {
  sizeNameMap?: Record<string, string>;
}

/**
 * Adopts a Lease. Azimuth's finalizer keeps it until the resource is deleted, and its end deletes its owner. Waits until
 * it is Active.
 */
export function adoptLease(name: string, args: LeaseArgs, opts: pulumi.CustomResourceOptions) {
  const { namespace, leaseName } = args;
  const waited = {
    object: { apiVersion: API.scheduling, kind: "Lease", metadata: { name: leaseName, namespace } },
    mustExist: true,
    ended: LEASE_ENDED,
    finalizers: [LEASE_FINALIZER],
    wait: {
      equals: [{ path: "status.phase", value: "Active" }],
      fields: { status: "status" },
      failures: [{ path: "status.phase", value: "Error" }],
      messages: ["status.errorMessage"],
    },
    installedBy: INSTALLED_BY.scheduling,
    timeoutSeconds: TIMEOUTS.leaseSeconds,
  };
  const lease = adoptObject(name, waited, args, opts);
  // without a status, `--target` has left the Lease out, and what it reserved is unknown
  const sizes = orEmpty(lease.values).apply(({ status }) =>
    status === undefined ? undefined : ((status as LeaseStatus).sizeNameMap ?? {}),
  );
  return { lease, sizes };
}

/**
 * A Lease of reserved machines. Another component creates it and decides when it ends; this one keeps it while it is
 * used, and waits until it is Active.
 */
export class Lease extends pulumi.ComponentResource {
  /** Requested sizes → flavors that the Lease reserved. */
  readonly sizes: pulumi.Output<Record<string, string>>;

  constructor(name: string, args: LeaseArgs, opts?: pulumi.ComponentResourceOptions) {
    refuseArguments(`Lease ${name}`, [...partIssues(args), ...kubernetesProviderIssues(opts)]);
    super("foresail:azimuth:Lease", name, {}, opts);
    const { sizes } = adoptLease(name, args, { parent: this });
    this.sizes = sizes.apply((known) => known ?? {});
    this.registerOutputs({ sizes: this.sizes });
  }
}
