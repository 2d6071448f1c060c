import * as pulumi from "@pulumi/pulumi";
import type { OidcIssuer } from "../../providers/azimuth/plan/cluster-values";
import { TIMEOUTS } from "../../providers/azimuth/plan/defaults";
import { API, INSTALLED_BY } from "../../providers/azimuth/plan/names";
import { oidcClient, platform } from "../../providers/azimuth/plan/objects";
import type { DesiredStatus } from "../../providers/kubernetes/plan/status";
import { type Adoption, ObjectReady } from "../../providers/kubernetes/resources/object-resources";
import { orEmpty } from "../../lib/pulumi/left-out";
import type { TenancyArgs, TenancyObjectArgs } from "./azimuth-cluster-args";
import { adoptObject } from "./owner";

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
    super("foresail:azimuth:Realm", name, {}, opts);
    const { realmName, status } = findRealm(name, args, { parent: this });
    this.realmName = realmName;
    this.status = status;
    this.registerOutputs({ realmName, status });
  }
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
  fields: Record<string, string>,
  args: RealmObjectArgs,
  opts: pulumi.CustomResourceOptions,
): Adoption {
  const waited = {
    object: object(args, args.realmName),
    wait: { ...FAILED, fields },
    installedBy: INSTALLED_BY.identity,
    timeoutSeconds: TIMEOUTS.identitySeconds,
  };
  return adoptObject(name, waited, args, opts);
}

/** Creates or adopts the OIDCClient of a cluster. */
export function adoptOidcClient(name: string, args: RealmObjectArgs, opts: pulumi.CustomResourceOptions) {
  const fields = { clientId: "status.clientId", issuerUrl: "status.issuerUrl" };
  const client = adoptInRealm(name, oidcClient, fields, args, opts);
  return { client, issuer: orEmpty(client.values) as pulumi.Output<Partial<OidcIssuer>> };
}

/** The OIDCClient of a cluster: with it, the users of a realm log in to the cluster with kubectl. */
export class OidcClient extends pulumi.ComponentResource {
  readonly issuerUrl: pulumi.Output<string | undefined>;
  readonly clientId: pulumi.Output<string | undefined>;

  constructor(name: string, args: RealmObjectArgs, opts?: pulumi.ComponentResourceOptions) {
    super("foresail:azimuth:OidcClient", name, {}, opts);
    const { issuer } = adoptOidcClient(name, args, { parent: this });
    this.issuerUrl = issuer.apply(({ issuerUrl }) => issuerUrl);
    this.clientId = issuer.apply(({ clientId }) => clientId);
    this.registerOutputs({ issuerUrl: this.issuerUrl, clientId: this.clientId });
  }
}

/** Creates or adopts the Platform of a cluster. */
export function adoptPlatform(name: string, args: RealmObjectArgs, opts: pulumi.CustomResourceOptions) {
  const adopted = adoptInRealm(name, platform, { rootGroup: "status.rootGroup" }, args, opts);
  const rootGroup = orEmpty(adopted.values).apply((values) => values.rootGroup as string | undefined);
  return { platform: adopted, rootGroup };
}

/** The Platform of a cluster: the realm's groups for it. */
export class Platform extends pulumi.ComponentResource {
  /** The group that contains all groups of the cluster. */
  readonly rootGroup: pulumi.Output<string | undefined>;

  constructor(name: string, args: RealmObjectArgs, opts?: pulumi.ComponentResourceOptions) {
    super("foresail:azimuth:Platform", name, {}, opts);
    const { rootGroup } = adoptPlatform(name, args, { parent: this });
    this.rootGroup = rootGroup;
    this.registerOutputs({ rootGroup });
  }
}
