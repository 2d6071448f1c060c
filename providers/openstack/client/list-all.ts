import type { Cloud, CloudService } from "./cloud";

/** Returns all items of a paginated list. */
export async function listAll<Item>(
  cloud: Cloud,
  service: CloudService,
  path: string,
  key: string,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const page: Record<string, unknown> = await cloud.call(service, "GET", next);
    items.push(...((page[key] ?? []) as Item[]));
    const links = (page[`${key}_links`] ?? []) as { rel: string; href: string }[];
    const following: unknown = links.find(({ rel }) => rel === "next")?.href ?? page.next;
    next = typeof following !== "string" ? undefined : following.replace(/^\/v2(?=\/)/, "");
  }
  return items;
}
