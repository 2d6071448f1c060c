import type * as pulumi from "@pulumi/pulumi";
import { API, INSTALLED_BY, LEASE_FINALIZER } from "../../providers/azimuth/plan/names";
import type { Owner } from "../../providers/kubernetes/plan/adoption";
import { Adoption } from "../../providers/kubernetes/resources/adoption";
import type { ClusterContext } from "./azimuth-cluster-args";

const ENDED =
  "has ended or was deleted; run pulumi destroy, which takes the cluster down in order, or name another lease";

/**
 * Adopts the Lease of a cluster. Azimuth's finalizer keeps it until the cluster's machines are gone, and it has an
 * owner, so that its end deletes the cluster. Waits until it is Active.
 */
export function adoptLease(
  { name, namespace, kubeconfig, args, opts }: ClusterContext,
  leaseName: string,
  owner: pulumi.Input<Owner>,
  after: pulumi.Resource[],
): Adoption {
  return new Adoption(
    `${name}-lease`,
    {
      kubeconfig,
      object: { apiVersion: API.scheduling, kind: "Lease", metadata: { name: leaseName, namespace } },
      mustExist: true,
      ended: ENDED,
      adopt: args.adopt,
      owners: [owner],
      finalizers: [LEASE_FINALIZER],
      wait: {
        equals: [{ path: "status.phase", value: "Active" }],
        fields: { status: "status" },
        failures: [{ path: "status.phase", value: "Error" }],
        messages: ["status.errorMessage"],
      },
      installedBy: INSTALLED_BY.scheduling,
      timeoutSeconds: args.timeouts.leaseSeconds,
    },
    { ...opts, dependsOn: after },
  );
}
