/** When a certificate of a machine ends, as UTC with seconds: "2027-11-27T09:00:00Z". */
export interface CertificateEnd {
  name: string;
  ends: string;
}

/** The certificates of a machine, as its node agent reports them. */
export interface CertificateReport {
  ends: CertificateEnd[];
  /** The machine does not have the key of an authority, so kubeadm can't renew what that one has signed. */
  isForeign?: true;
}

/** Certificates that `kubeadm certs renew all` writes again, by the names that an agent reports. */
const RENEWED: ReadonlySet<string> = new Set([
  "admin.conf",
  "apiserver",
  "apiserver-etcd-client",
  "apiserver-kubelet-client",
  "controller-manager.conf",
  "etcd-healthcheck-client",
  "etcd-peer",
  "etcd-server",
  "front-proxy-client",
  "scheduler.conf",
  "super-admin.conf",
]);

const AUTHORITIES: ReadonlySet<string> = new Set(["ca", "etcd-ca", "front-proxy-ca"]);

/** The client certificate with which a kubelet, and the node agent, reach the API. */
export const KUBELET_CLIENT = "kubelet-client";

/** The longest report that an agent writes, in characters. */
const LONGEST = 1500;
const INSTANT = "\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z";
const REPORT = new RegExp(`^[a-z][a-z.-]*=${INSTANT}(?: [a-z][a-z.-]*=${INSTANT})*( foreign)?$`);

/** Parses an agent's report. Returns undefined for anything else: the text is from outside. */
export function parseCertificates(text: string | undefined): CertificateReport | undefined {
  if (text === undefined || text.length > LONGEST || !REPORT.test(text)) return undefined;
  const words = text.split(" ");
  const isForeign = words.at(-1) === "foreign";
  const ends = words.slice(0, isForeign ? -1 : undefined).map((word) => {
    const [name = "", at = ""] = word.split("=");
    return { name, ends: at };
  });
  if (ends.some((one) => Number.isNaN(Date.parse(one.ends)))) return undefined;
  return isForeign ? { ends, isForeign } : { ends };
}

/** Returns the certificates that the node agent can renew. */
export function renewableEnds({ ends, isForeign }: CertificateReport): CertificateEnd[] {
  return isForeign ? [] : ends.filter(({ name }) => RENEWED.has(name));
}

/** Returns when the first of these certificates ends; undefined for none. */
export const firstEnd = (ends: readonly CertificateEnd[]): string | undefined =>
  ends.map((one) => one.ends).sort()[0];

const REQUEST = "after:";

/** Returns what asks an agent to renew its certificates until none ends at this instant or before. */
export const renewalRequest = (instant: string): string => `${REQUEST}${instant}`;

/**
 * Returns the version of a machine's certificates: the request, when it is fulfilled, and otherwise when the first one ends;
 * undefined where the agent renews none.
 */
export function certificateVersion(report: CertificateReport, asked: string | undefined): string | undefined {
  const first = firstEnd(renewableEnds(report));
  const isFulfilled =
    first !== undefined && asked?.startsWith(REQUEST) === true && first > asked.slice(REQUEST.length);
  return isFulfilled ? asked : first;
}

/** When foresail renews certificates, as configured. */
export interface CertificateSettings {
  /** Days before the first end; 0 for never. */
  renewBeforeDays?: number;
}

const DAY = 86_400_000;

/** Days before the first end at which foresail renews certificates unless the configuration says otherwise. */
export const RENEW_BEFORE_DAYS = 30;

/** Returns the whole days until an instant, negative after it. */
export const daysUntil = (instant: string, now: Date): number =>
  Math.floor((Date.parse(instant) - now.getTime()) / DAY);

/** Returns whether an instant is less than some days away, or over. */
export const endsWithin = (instant: string, days: number, now: Date): boolean =>
  Date.parse(instant) - now.getTime() < days * DAY;

/**
 * Returns the request for a machine whose certificates are due; undefined for another one.
 *
 * @param days before the first end; 0 to renew none
 */
export function dueRenewal(
  report: CertificateReport | undefined,
  days: number,
  now: Date,
): string | undefined {
  const first = report && firstEnd(renewableEnds(report));
  if (first === undefined || days === 0) return undefined;
  return endsWithin(first, days, now) ? renewalRequest(first) : undefined;
}

/** An end of a certificate for a warning. */
export interface NearEnd {
  /** The certificates that end within the time, by name. */
  names: string[];
  /** Of the first of them. */
  ends: string;
  days: number;
}

/** How many days before their end certificates are named, by who signs them again. */
export interface WarningDays {
  /** Of those that kubeadm renews. */
  renewed: number;
  /** Of authorities, which take longer to replace. */
  authorities: number;
}

export const AUTHORITY_DAYS = 180;

/**
 * Returns the certificates of a machine that end soon and that no step of this run renews; undefined for none. A kubelet
 * renews its own until they have ended.
 *
 * @param isRenewed whether this run renews what kubeadm can
 */
export function nearEnds(
  report: CertificateReport,
  { days, now, isRenewed }: { days: WarningDays; now: Date; isRenewed: boolean },
): NearEnd | undefined {
  const renewed = new Set(isRenewed ? renewableEnds(report).map(({ name }) => name) : []);
  const limitOf = (name: string) => {
    if (AUTHORITIES.has(name)) return days.authorities;
    return RENEWED.has(name) ? days.renewed : 0;
  };
  const near = report.ends.filter(
    ({ name, ends }) => !renewed.has(name) && Date.parse(ends) - now.getTime() <= limitOf(name) * DAY,
  );
  const first = firstEnd(near);
  if (first === undefined) return undefined;
  return { names: near.map(({ name }) => name).sort(), ends: first, days: daysUntil(first, now) };
}

/**
 * Returns the first ends that members report, by name.
 *
 * @param members absent in a run with `--target` that leaves out a rollout without state: Pulumi gives it no outputs
 */
export const endsByMember = (
  members: readonly { readonly name: string; readonly certificatesExpire?: string }[] | undefined,
): Record<string, string> =>
  Object.fromEntries(
    (members ?? []).flatMap(({ name, certificatesExpire: end }) =>
      end === undefined ? [] : [[name, end] as const],
    ),
  );
