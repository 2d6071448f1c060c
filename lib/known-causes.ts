import { clockAdvice } from "./clock";
import { pageOf } from "./pages";

/** etcd's own words for a write while its alarm NOSPACE is on. */
const OUT_OF_SPACE = /database space exceeded/i;
/** The words of programs in Go for a certificate that is not valid now; they contain the time of the machine. */
const NOT_VALID_NOW =
  /x509: certificate has expired or is not yet valid: current time ([\dT:.Z+-]{10,40}) is (before|after) /;

/** Returns whether a text says that etcd is full. */
export const saysOutOfSpace = (text: string): boolean => OUT_OF_SPACE.test(text);

/** What to do when etcd is full. */
export const OUT_OF_SPACE_ADVICE = `etcd is full and accepts no writes (alarm NOSPACE): compact and defragment it, then disarm the alarm (${pageOf("troubleshooting")}, database space exceeded)`;

/** Returns what to do about an error of another program whose cause its words tell; undefined for any other. */
export function knownCause(text: string, here = new Date()): string | undefined {
  if (saysOutOfSpace(text)) return OUT_OF_SPACE_ADVICE;
  const [, time, side] = NOT_VALID_NOW.exec(text) ?? [];
  if (time === undefined) return undefined;
  const advice = clockAdvice("the clock of that machine", new Date(time), here);
  if (advice !== undefined) return advice;
  return side === "after"
    ? "the clocks agree, so a certificate has expired: renew it on the control plane with: kubeadm certs renew all"
    : "the clocks agree, so a certificate was issued by a machine whose clock was wrong: renew it there with: kubeadm certs renew all";
}
