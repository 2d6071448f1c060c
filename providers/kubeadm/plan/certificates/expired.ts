import type { AdminKubeconfigStep } from "../steps";
import { type CertificateReport, firstEnd, parseCertificates, renewableEnds } from "./report";

/** What a control plane answers about its certificates. */
export interface ReadCertificates {
  machine: string;
  report: CertificateReport;
  /** A renewal has begun there, and what reads the certificates has not restarted. */
  isRenewing?: true;
  /** Its API server serves a certificate that is valid, so something else keeps others from it. */
  isServing?: true;
}

const WORDS = /( renewing)?( serving)?$/;

/** Parses the answer of a control plane. @throws Error when it is none */
export function parseReadCertificates(machine: string, answer: string): ReadCertificates {
  const text = answer.trim();
  const [, isRenewing, isServing] = WORDS.exec(text) ?? [];
  const report = parseCertificates(text.replace(WORDS, ""));
  if (report === undefined) throw new Error(`the answer of ${machine} about its certificates can't be read`);
  return {
    machine,
    report,
    ...(isRenewing ? { isRenewing: true } : {}),
    ...(isServing ? { isServing: true } : {}),
  };
}

/**
 * Returns what has to happen over SSH before anything can use the API: the renewal of what has ended, on each control plane.
 *
 * @param read of the control planes that answered, of those whose API servers do not
 */
export function certificateRepairs(read: readonly ReadCertificates[], now: Date): AdminKubeconfigStep[] {
  return read.flatMap(({ machine, report, isRenewing, isServing }): AdminKubeconfigStep[] => {
    const ends = renewableEnds(report);
    const first = firstEnd(ends);
    if (first === undefined) return [];
    const hasEnded = Date.parse(first) <= now.getTime();
    if (isRenewing && !hasEnded) return [{ kind: "restartRenewed", machine }];
    if (!hasEnded || (isServing && !isRenewing)) return [];
    return [{ kind: "renewEnded", machine, certificates: ends.length, day: first.slice(0, 10) }];
  });
}
