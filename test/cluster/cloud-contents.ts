import type { CloudApi } from "../../sandbox/openstack/cloud-api";
import type { ServiceName } from "../../sandbox/openstack/settings";

/** The services that a cloud has on request only. */
export interface FurtherServices {
  readonly octavia: boolean;
  readonly cinder: boolean;
}

interface Item {
  readonly id?: string;
  readonly name?: string;
  readonly keypair?: { readonly name: string };
}

type ContentList = readonly [ServiceName, string];

const LISTS: readonly ContentList[] = [
  ["nova", "/servers"],
  ["nova", "/os-keypairs"],
  ["nova", "/os-server-groups"],
  ["neutron", "/v2.0/networks"],
  ["neutron", "/v2.0/subnets"],
  ["neutron", "/v2.0/routers"],
  ["neutron", "/v2.0/ports"],
  ["neutron", "/v2.0/floatingips"],
  ["neutron", "/v2.0/security-groups"],
  ["glance", "/v2/images"],
];

const CINDER_LISTS: readonly ContentList[] = [
  ["cinder", "/volumes"],
  ["cinder", "/snapshots"],
  ["cinder", "/attachments"],
];

const OCTAVIA_LISTS: readonly ContentList[] = [
  ["octavia", "/v2/lbaas/loadbalancers"],
  ["octavia", "/v2/lbaas/listeners"],
  ["octavia", "/v2/lbaas/pools"],
  ["octavia", "/v2/lbaas/healthmonitors"],
];

/** Everything that the caller can see in a cloud: path of the list → names, sorted. */
export async function cloudContents(
  api: CloudApi,
  { octavia, cinder }: FurtherServices,
): Promise<Record<string, string[]>> {
  const lists = [...LISTS, ...(octavia ? OCTAVIA_LISTS : []), ...(cinder ? CINDER_LISTS : [])];
  const entries = lists.map(async ([service, path]) => [path, await namesIn(api, service, path)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function namesIn(api: CloudApi, service: ServiceName, path: string): Promise<string[]> {
  const answer = (await api.call(service, "GET", path)) as Record<string, unknown>;
  const items = Object.values(answer).find((value) => Array.isArray(value)) as Item[] | undefined;
  return (items ?? []).map(({ id, name, keypair }) => keypair?.name ?? (name || id || "")).sort();
}
