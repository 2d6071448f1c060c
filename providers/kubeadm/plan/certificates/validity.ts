import { valueAt } from "../../../../lib/validation/validation-issue";
import type { ClusterSpecification } from "../cluster/specification";
import { parseDuration } from "../validation/field-values";
import { AUTHORITY_DAYS, RENEW_BEFORE_DAYS, type WarningDays } from "./report";

const DAY_SECONDS = 86_400;

/** Returns the days before their end at which certificates that no step renews are named in previews. */
export function warningDays(
  specification: Pick<ClusterSpecification, "kubeadm">,
  configured?: number,
): WarningDays {
  return {
    renewed: Math.max(renewalDays(specification, configured), renewalDays(specification)),
    authorities: thirdOfPeriod(specification, "caCertificateValidityPeriod", AUTHORITY_DAYS),
  };
}

/**
 * Returns the days before their end at which certificates are renewed: as configured, but never more than a third of the time
 * for which kubeadm signs them, since they would be due again at once.
 */
export function renewalDays(
  specification: Pick<ClusterSpecification, "kubeadm">,
  configured = RENEW_BEFORE_DAYS,
): number {
  return thirdOfPeriod(specification, "certificateValidityPeriod", configured);
}

/** Returns some days, or a third of a period of kubeadm's configuration when that is less. */
function thirdOfPeriod(
  { kubeadm }: Pick<ClusterSpecification, "kubeadm">,
  field: string,
  days: number,
): number {
  const period = valueAt(kubeadm.clusterConfiguration ?? {}, [field]);
  const seconds = typeof period === "string" ? parseDuration(period) : undefined;
  return seconds !== undefined && seconds > 0 ? Math.min(days, seconds / 3 / DAY_SECONDS) : days;
}
