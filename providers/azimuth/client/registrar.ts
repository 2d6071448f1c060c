import { Transient, waitFor } from "../../../lib/wait";

/** The registrar responded with a refusal. */
export class RegistrarRefusal extends Error {
  override readonly name = "RegistrarRefusal";
  readonly code = "ZenithRegistrar";
  readonly next =
    "check azimuth.zenith.registrarAdminUrl and what the registrar's log says, then run the same again";

  constructor(
    readonly url: string,
    readonly status: number,
    readonly remote: string,
  ) {
    super(`POST ${url}: the Zenith registrar answered ${status}: ${remote}`);
  }
}

/** A name at which Zenith exposes a service. */
export interface ZenithReservation {
  subdomain: string;
  fqdn: string;
}

export interface ReserveOptions {
  /** how long to retry a registrar that does not respond or has a server error */
  seconds: number;
  signal?: AbortSignal;
  progress?: (line: string) => void;
}

const CALL_MILLISECONDS = 15_000;

/**
 * Reserves a subdomain for the owner of a key. Each call reserves another one.
 *
 * @param publicKey "ssh-ed25519 AAAA…"
 * @throws RegistrarRefusal for a response that a retry does not fix, WaitTimeout
 */
export async function reserveSubdomain(
  registrarAdminUrl: string,
  publicKey: string,
  { seconds, signal, progress }: ReserveOptions,
): Promise<ZenithReservation> {
  const url = `${registrarAdminUrl.replace(/\/$/, "")}/admin/reserve`;
  return waitFor<ZenithReservation>({
    what: `the Zenith registrar at ${url}`,
    seconds,
    ...(signal ? { signal } : {}),
    ...(progress ? { progress } : {}),
    probe: async (ended) => ({ done: await askOnce(url, publicKey, ended) }),
  });
}

async function askOnce(url: string, publicKey: string, ended: AbortSignal): Promise<ZenithReservation> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    // without the comment, because the registrar compares keys
    body: JSON.stringify({ public_keys: [publicKey.split(" ").slice(0, 2).join(" ")] }),
    signal: AbortSignal.any([ended, AbortSignal.timeout(CALL_MILLISECONDS)]),
  }).catch((error: unknown) => {
    const { message, cause } = error as Error & { cause?: Error };
    throw new Transient(`no answer (${cause?.message ?? message})`);
  });
  const text = await response.text();
  if (response.status >= 500) throw new Transient(`${response.status}: ${text.slice(0, 200)}`);
  if (!response.ok) throw new RegistrarRefusal(url, response.status, text.slice(0, 300));
  const { subdomain, fqdn } = (parse(text) ?? {}) as Partial<ZenithReservation>;
  if (!subdomain || !fqdn)
    throw new RegistrarRefusal(url, response.status, `no subdomain in: ${text.slice(0, 200)}`);
  return { subdomain, fqdn };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
