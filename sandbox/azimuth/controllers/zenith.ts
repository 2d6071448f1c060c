/**
 * Simulates the Zenith operator of a target cluster (group zenith.stackhpc.com): each Reservation becomes Ready with
 * its own subdomain and gets its credential Secret. There is no tunnel.
 */
import { createHash } from "node:crypto";
import { API } from "../../../providers/azimuth/plan/names";
import { runController, type Seen, setStatus, type Context } from "./controller";

/** Parent domain of every name of the sandbox's Zenith. */
export const ZENITH_DOMAIN = "apps.sandbox.example";

type Reservation = Seen<{ credentialSecretName?: string }, { phase?: string }>;

export async function runZenith(around: Context): Promise<void> {
  const { client, faults } = around;
  const reconcile = async (reservation: Reservation): Promise<number | undefined> => {
    const { uid, namespace, deletionTimestamp } = reservation.metadata;
    if (deletionTimestamp) return undefined;
    const { failed, neverReady } = faults.of("Reservation", reservation.metadata);
    if (failed !== undefined) return void (await setStatus(client, reservation, { phase: "Failed" }));
    if (neverReady) return void (await setStatus(client, reservation, { phase: "Pending" }));
    const { credentialSecretName } = reservation.spec;
    if (credentialSecretName !== undefined && reservation.status?.phase !== "Ready")
      await client.apply({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: credentialSecretName, namespace },
        stringData: { "ssh-privatekey": "simulated" },
      });
    const subdomain = subdomainOf(uid);
    await setStatus(client, reservation, {
      phase: "Ready",
      subdomain,
      fqdn: `${subdomain}.${ZENITH_DOMAIN}`,
    });
    return undefined;
  };
  await runController<Reservation>(around, { apiVersion: API.zenith, kind: "Reservation", reconcile });
}

/** Returns a subdomain that is always the same for the same object. */
export function subdomainOf(text: string): string {
  return `s${createHash("sha256").update(text).digest("hex").slice(0, 11)}`;
}
