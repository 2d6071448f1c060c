import { scryptSync } from "node:crypto";
import type { ClusterSpecification } from "../cluster/specification";

type Proxy = ClusterSpecification["proxy"];

/**
 * Returns a proxy's settings as hashes are made of them, with a hash of its credentials that takes long. Everyone who can
 * read Nodes sees the versions of their configuration, and could try passwords against a quick one.
 */
export function hashableProxy(proxy: Proxy) {
  if (!proxy?.credentials) return proxy;
  const { username, password } = proxy.credentials;
  return { ...proxy, credentials: slowHash(username, password) };
}

const hashes = new Map<string, string>();

function slowHash(username: string, password: string): string {
  const key = JSON.stringify([username, password]);
  const hash = hashes.get(key) ?? scryptSync(password, `foresail proxy ${username}`, 32).toString("hex");
  hashes.set(key, hash);
  return hash;
}
