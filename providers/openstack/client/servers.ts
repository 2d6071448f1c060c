import type { Cloud } from "./cloud";
import { listAll } from "./list-all";

/** A server in a list. */
interface ListedServer {
  id: string;
  name: string;
  /** Nova's status, such as "BUILD", "ACTIVE" and "ERROR". */
  status: string;
}

/** Returns the existing servers with these names. */
export async function listServers(cloud: Cloud, names: readonly string[]): Promise<ListedServer[]> {
  if (names.length === 0) return [];
  const path = `/servers/detail?name=${encodeURIComponent(`^(${names.join("|")})$`)}`;
  const found = await listAll<ListedServer>(cloud, "compute", path, "servers");
  return found
    .filter(({ name }) => names.includes(name))
    .map(({ id, name, status }) => ({ id, name, status }));
}

/** Returns why a server is in state ERROR, as a sentence. Lists of servers do not contain the reason. */
export async function serverFault(cloud: Cloud, id: string): Promise<string> {
  const { server } = await cloud.call("compute", "GET", `/servers/${id}`);
  const { fault } = (server ?? {}) as { fault?: { message?: string } };
  return (fault?.message ?? "the cloud gives no reason").replace(/\.?$/, ".");
}
