/**
 * Simulates azimuth-identity-operator (0.x, group identity.azimuth.stackhpc.com): Realm, OIDCClient and Platform go
 * through the phases of the real operator and get the same status fields, and Platforms get their discovery Secrets.
 * There is no Keycloak and no Dex: what the real operator creates there exists only in the status.
 */
import type { KubernetesObject } from "../../../lib/kubernetes";
import { API } from "../../../providers/azimuth/plan/names";
import { holdBy, letGo, refTo, runController, type Seen, setStatus, type Context } from "./controller";

const FINALIZER = "identity.azimuth.stackhpc.com/finalizer";
const BASE = "https://identity.sandbox.example";
/** How often an object that waits for its Realm is checked again; the real operator waits 10 s. */
const RETRY_MILLISECONDS = 250;
const DISCOVERY = "zenith-services";

interface RealmStatus {
  phase?: string;
  oidcIssuerUrl?: string;
  platformUsersGroup?: string;
}
type Realm = Seen<{ tenancyId?: string }, RealmStatus>;
type OidcClient = Seen<{ realmName: string; clientId?: string; public?: boolean }, { phase?: string }>;
type Platform = Seen<
  { realmName: string; zenithServices?: Record<string, { subdomain: string; fqdn: string }> },
  { phase?: string; observed?: string }
>;

export async function runIdentity(around: Context): Promise<void> {
  const { client, faults } = around;

  /** Returns its Realm once that is ready. */
  const readyRealm = async (namespace: string, name: string): Promise<Realm | undefined> => {
    const ref = { apiVersion: API.identity, kind: "Realm", namespace, name };
    const realm = await client.get<Realm & KubernetesObject>(ref);
    return realm?.status?.phase === "Ready" ? realm : undefined;
  };

  const reconcileRealm = async (realm: Realm): Promise<number | undefined> => {
    const { name, namespace, deletionTimestamp } = realm.metadata;
    if (deletionTimestamp) return void (await letGo(client, realm, FINALIZER));
    if (!(await holdBy(client, realm, FINALIZER))) return undefined;
    const { failed, neverReady } = faults.of("Realm", realm.metadata);
    if (failed !== undefined)
      return void (await setStatus(client, realm, { phase: "Failed", failureMessage: failed }));
    if (realm.status?.phase === undefined || neverReady)
      return void (await setStatus(client, realm, { phase: "Pending" }));
    const keycloak = name === namespace ? name : `${namespace}-${name}`;
    await setStatus(client, realm, {
      phase: "Ready",
      oidcIssuerUrl: `${BASE}/realms/${keycloak}`,
      adminUrl: `${BASE}/admin/${keycloak}/console`,
      ...(realm.spec.tenancyId ? { platformUsersGroup: "/platform-users" } : {}),
    });
    return undefined;
  };

  const reconcileClient = async (own: OidcClient): Promise<number | undefined> => {
    const { name, namespace, deletionTimestamp } = own.metadata;
    if (deletionTimestamp) return void (await letGo(client, own, FINALIZER));
    if (!(await holdBy(client, own, FINALIZER))) return undefined;
    const { failed, neverReady } = faults.of("OIDCClient", own.metadata);
    if (failed !== undefined)
      return void (await setStatus(client, own, { phase: "Failed", failureMessage: failed }));
    if (own.status?.phase === undefined || neverReady)
      return void (await setStatus(client, own, { phase: "Pending" }));
    const realm = await readyRealm(namespace, own.spec.realmName);
    if (!realm) return RETRY_MILLISECONDS;
    await setStatus(client, own, {
      phase: "Ready",
      issuerUrl: realm.status?.oidcIssuerUrl,
      clientId: own.spec.clientId ?? name,
    });
    return undefined;
  };

  const reconcilePlatform = async (platform: Platform): Promise<number | undefined> => {
    const { name, namespace, deletionTimestamp } = platform.metadata;
    const services = deletionTimestamp ? {} : (platform.spec.zenithServices ?? {});
    if (deletionTimestamp) {
      await writeDiscovery(platform, services, undefined);
      return void (await letGo(client, platform, FINALIZER));
    }
    if (!(await holdBy(client, platform, FINALIZER))) return undefined;
    const { failed, neverReady } = faults.of("Platform", platform.metadata);
    if (failed !== undefined)
      return void (await setStatus(client, platform, { phase: "Failed", failureMessage: failed }));
    if (platform.status?.phase === undefined || neverReady)
      return void (await setStatus(client, platform, { phase: "Pending" }));
    const realm = await readyRealm(namespace, platform.spec.realmName);
    if (!realm) return RETRY_MILLISECONDS;
    await writeDiscovery(platform, services, realm);
    const subgroups = Object.fromEntries(
      Object.keys(services).map((service) => [service, `/${name}/${service}`]),
    );
    const gone = Object.keys(
      (platform.status as { zenithServiceSubgroups?: object }).zenithServiceSubgroups ?? {},
    ).filter((service) => !Object.hasOwn(services, service));
    await setStatus(client, platform, {
      phase: "Ready",
      rootGroup: `/${name}`,
      ...(Object.keys(subgroups).length + gone.length > 0
        ? {
            zenithServiceSubgroups: {
              ...subgroups,
              ...Object.fromEntries(gone.map((service) => [service, null])),
            },
          }
        : {}),
    });
    return undefined;
  };

  /** Keeps one Secret for each service and deletes all others. */
  const writeDiscovery = async (
    platform: Platform,
    services: Record<string, { subdomain: string }>,
    realm: Realm | undefined,
  ): Promise<void> => {
    const { name, namespace } = platform.metadata;
    const group = "identity.azimuth.stackhpc.com";
    const labels = { [`${group}/platform-namespace`]: namespace, [`${group}/platform-name`]: name };
    const selector = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    const have = await client.list<Seen>({
      apiVersion: "v1",
      kind: "Secret",
      namespace: DISCOVERY,
      labelSelector: selector.join(","),
    });
    const wanted = new Map(
      Object.entries(services).map(([service, { subdomain }]) => [`oidc-discovery-${subdomain}`, service]),
    );
    for (const secret of have)
      if (!wanted.has(secret.metadata.name))
        await client.delete(refTo({ ...secret, apiVersion: "v1", kind: "Secret" }));
    for (const [secret, service] of wanted) {
      if (have.some(({ metadata }) => metadata.name === secret)) continue;
      const users = realm?.status?.platformUsersGroup;
      await client.apply({
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          name: secret,
          namespace: DISCOVERY,
          labels: { ...labels, [`${group}/service-name`]: service.slice(0, 63) },
        },
        stringData: {
          "issuer-url": realm?.status?.oidcIssuerUrl ?? "",
          "client-id": `${name}.${service}`,
          "client-secret": "simulated",
          "allowed-groups": JSON.stringify([...(users ? [users] : []), `/${name}`, `/${name}/${service}`]),
        },
      });
    }
  };

  await Promise.all([
    runController<Realm>(around, { apiVersion: API.identity, kind: "Realm", reconcile: reconcileRealm }),
    runController<OidcClient>(around, {
      apiVersion: API.identity,
      kind: "OIDCClient",
      reconcile: reconcileClient,
    }),
    runController<Platform>(around, {
      apiVersion: API.identity,
      kind: "Platform",
      reconcile: reconcilePlatform,
    }),
  ]);
}
