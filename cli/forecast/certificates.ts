import type { SeenCertificate, Finding } from "./facts";

const DAY = 86_400_000;
/** A rollout and its repair should finish before a certificate expires. */
const SOON_DAYS = 30;

/** Returns findings for certificates that have expired or expire soon. */
export function certificateFindings(certificates: readonly SeenCertificate[], now: Date): Finding[] {
  return certificates.flatMap(({ what, notAfter, isOfKubeconfig }): Finding[] => {
    const days = Math.floor((new Date(notAfter).getTime() - now.getTime()) / DAY);
    if (days >= SOON_DAYS) return [];
    const day = notAfter.slice(0, 10);
    const words = days < 0 ? `${what} expired on ${day}` : `${what} expires on ${day}, in ${days} days`;
    return [
      {
        about: "certificate",
        weight: "warns",
        words,
        fix: isOfKubeconfig
          ? "export the kubeconfig again"
          : "`kubeadm certs renew all` renews it, and so does the rollout",
      },
    ];
  });
}
