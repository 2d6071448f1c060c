import type * as pulumi from "@pulumi/pulumi";
import { API, INSTALLED_BY } from "../../providers/azimuth/plan/names";
import { oidcClient, platform } from "../../providers/azimuth/plan/objects";
import type { Owner } from "../../providers/kubernetes/plan/adoption";
import type { DesiredStatus } from "../../providers/kubernetes/plan/status";
import { Adoption } from "../../providers/kubernetes/resources/adoption";
import { ObjectReady } from "../../providers/kubernetes/resources/object-ready";
import { ServiceSync } from "../../providers/azimuth/resources/service-sync";
import type { ClusterContext } from "./azimuth-cluster-args";

/** The resources through which a cluster's users log in. */
export interface ClusterIdentity {
  realm: ObjectReady;
  client: Adoption;
  platform: Adoption;
  services: ServiceSync;
}

const FAILED: DesiredStatus = {
  failures: [{ path: "status.phase", value: "Failed" }],
  messages: ["status.failureMessage"],
};

/** Reads the Realm; creates or adopts the cluster's OIDCClient and Platform and waits for them, one after another. */
export function makeIdentity(
  { name, namespace, kubeconfig, args, opts }: ClusterContext,
  owner: pulumi.Input<Owner>,
  after: pulumi.Resource[],
): ClusterIdentity {
  const ref = { name, namespace };
  const { zenithIdentityRealmName } = args.cluster;
  const common = {
    kubeconfig,
    installedBy: INSTALLED_BY.identity,
    timeoutSeconds: args.timeouts.identitySeconds,
  };
  const realm = new ObjectReady(
    `${name}-realm`,
    {
      ...common,
      object: {
        apiVersion: API.identity,
        kind: "Realm",
        namespace,
        ...(zenithIdentityRealmName === undefined ? {} : { name: zenithIdentityRealmName }),
      },
      wait: { ...FAILED, equals: [{ path: "status.phase", value: "Ready" }], fields: { status: "status" } },
      mustExist: true,
    },
    { ...opts, dependsOn: after },
  );
  const realmName = realm.object.apply(({ name: found }) => found);
  const client = new Adoption(
    `${name}-oidc-client`,
    {
      ...common,
      object: oidcClient(ref, realmName),
      owners: [owner],
      adopt: args.adopt,
      wait: { ...FAILED, fields: { clientId: "status.clientId", issuerUrl: "status.issuerUrl" } },
    },
    { ...opts, dependsOn: [realm] },
  );
  const itsPlatform = new Adoption(
    `${name}-platform`,
    {
      ...common,
      object: platform(ref, realmName),
      owners: [owner],
      adopt: args.adopt,
      wait: { ...FAILED, fields: { rootGroup: "status.rootGroup" } },
    },
    { ...opts, dependsOn: [client] },
  );
  const services = new ServiceSync(
    `${name}-services`,
    { kubeconfig, namespace, cluster: name, hasRecord: args.record },
    { ...opts, dependsOn: [itsPlatform] },
  );
  return { realm, client, platform: itsPlatform, services };
}
