import type * as pulumi from "@pulumi/pulumi";
import { templateFields } from "../../providers/azimuth/plan/cluster-values";
import { API, INSTALLED_BY } from "../../providers/azimuth/plan/names";
import { clusterRecord, ownerConfigMap, ownerReferenceOf } from "../../providers/azimuth/plan/objects";
import type { OwnerRef } from "../../providers/kubernetes/plan/adoption";
import { ObjectReady } from "../../providers/kubernetes/resources/object-resources";
import { Adoption } from "../adoption";
import type { ClusterContext } from "./azimuth-cluster-args";

/** The objects of others that a cluster needs: its template and the Secret with the cloud's credentials. */
export interface Sources {
  template: ObjectReady;
  credentials: ObjectReady;
}

/** Finds the template and the credentials before anything is created. */
export function findSources({ name, namespace, kubeconfig, args, opts }: ClusterContext): Sources {
  const { templateName, cloudCredentialsSecretName } = args.cluster;
  return {
    template: new ObjectReady(
      `${name}-template`,
      {
        kubeconfig,
        object: { apiVersion: API.azimuth, kind: "ClusterTemplate", name: templateName },
        wait: { fields: { values: "spec.values" } },
        mustExist: true,
        mustHave: templateFields(args.cluster),
        guard: { rule: "azimuth/TemplateChange", namespace, cluster: name, hasRecord: args.record },
        installedBy: INSTALLED_BY.azimuth,
      },
      opts,
    ),
    credentials: new ObjectReady(
      `${name}-credentials`,
      {
        kubeconfig,
        object: { apiVersion: "v1", kind: "Secret", namespace, name: cloudCredentialsSecretName },
        // checks only that the Secret exists, without reading its content
        wait: {},
        mustExist: true,
      },
      opts,
    ),
  };
}

const UNPAUSED =
  "is not paused, so azimuth-capi-operator works on it; pause it (spec.paused: true) to hand it over, or choose another name";
const ENDED =
  "is being deleted, as the end of a lease does it; run pulumi destroy, which takes the cluster down in order";

/**
 * Creates the owner of a cluster's objects: the Azimuth Cluster, paused, so that azimuth-capi-operator ignores it; or a
 * ConfigMap when no record is kept.
 */
export function makeOwner(
  { name, namespace, kubeconfig, args, opts }: ClusterContext,
  sources: pulumi.Resource[],
): Adoption {
  const ref = { namespace, cluster: name };
  const object = args.record ? clusterRecord(ref, args.cluster) : ownerConfigMap(ref);
  const insteadOf = { ...ownerReferenceOf(ref, !args.record), namespace };
  return new Adoption(
    args.record ? `${name}-record` : `${name}-owner`,
    {
      kubeconfig,
      object,
      insteadOf,
      adopt: args.adopt,
      takeOver: args.takeOver,
      ended: ENDED,
      dryRun: true,
      ...(args.record ? { preconditions: [{ path: "spec.paused", value: true, otherwise: UNPAUSED }] } : {}),
      installedBy: INSTALLED_BY.azimuth,
    },
    { ...opts, dependsOn: sources },
  );
}

/** Returns the owner reference of a cluster's objects. */
export function ownerReference(
  { name, args }: ClusterContext,
  owner: Adoption,
  controller: boolean,
): pulumi.Output<OwnerRef> {
  const named = ownerReferenceOf({ cluster: name }, args.record);
  return owner.uid.apply((uid) => ({
    ...named,
    uid,
    ...(controller ? { controller: true } : {}),
    blockOwnerDeletion: true,
  }));
}
