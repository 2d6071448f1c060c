import * as pulumi from "@pulumi/pulumi";
import { TIMEOUTS } from "../../providers/azimuth/plan/defaults";
import { API, INSTALLED_BY, LEASE_FINALIZER } from "../../providers/azimuth/plan/names";
import { orEmpty } from "../../lib/pulumi/left-out";
import type { TenancyObjectArgs } from "./azimuth-cluster-args";
import { adoptObject } from "./owner";

const ENDED =
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
    ended: ENDED,
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
    super("foresail:azimuth:Lease", name, {}, opts);
    const { sizes } = adoptLease(name, args, { parent: this });
    this.sizes = sizes.apply((known) => known ?? {});
    this.registerOutputs({ sizes: this.sizes });
  }
}
