import type { Cloud } from "./cloud";
import { listAll } from "./list-all";

/** A server as a list has it. */
interface ListedServer {
  id: string;
  name: string;
  /** In nova's words, such as "BUILD", "ACTIVE" and "ERROR". */
  status: string;
}

/** The servers of some names, as far as they are there. */
export async function listServers(cloud: Cloud, names: readonly string[]): Promise<ListedServer[]> {
  if (names.length === 0) return [];
  const path = `/servers/detail?name=${encodeURIComponent(`^(${names.join("|")})$`)}`;
  const found = await listAll<ListedServer>(cloud, "compute", path, "servers");
  return found
    .filter(({ name }) => names.includes(name))
    .map(({ id, name, status }) => ({ id, name, status }));
}

/** Why a server is in state ERROR, as a sentence; a list of servers does not tell it. */
export async function serverFault(cloud: Cloud, id: string): Promise<string> {
  const { server } = await cloud.call("compute", "GET", `/servers/${id}`);
  const { fault } = (server ?? {}) as { fault?: { message?: string } };
  return (fault?.message ?? "the cloud gives no reason").replace(/\.?$/, ".");
}
