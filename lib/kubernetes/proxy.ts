import type { Agent } from "node:http";
import { quoted } from "../text/quote";
import type { Context } from "./kubeconfig-contexts";

/** A proxy between foresail and an API server. */
export interface Proxy {
  readonly agent: Agent;
  /** "proxy.example.com:3128", without user and password */
  readonly address: string;
}

/** Protocols as kubectl supports them: SOCKS proxies resolve the server's name themselves. */
const PROTOCOLS = ["http:", "https:", "socks5:", "socks5h:"];

/** Returns why the proxy in a kubeconfig's `proxy-url` can't be used; undefined for one that can, and for none. */
export function proxyIssue({ cluster, paths }: Pick<Context, "cluster" | "paths">): string | undefined {
  const { "proxy-url": value } = cluster;
  const path = `${paths.cluster}.proxy-url`;
  if (isNone(value)) return undefined;
  if (typeof value !== "string" || !URL.canParse(value))
    return `${path} is not an address; write http://HOST:PORT, or remove it`;
  const { protocol, hostname } = new URL(value);
  return PROTOCOLS.includes(protocol) && hostname !== ""
    ? undefined
    : `${path} has the protocol ${quoted(protocol)}, which is not supported; write http://, https:// or socks5:// and a host`;
}

/** Returns the proxy of a kubeconfig's `proxy-url`, after {@link proxyIssue}; undefined when it names none. */
export async function proxyOf({ cluster }: Pick<Context, "cluster">): Promise<Proxy | undefined> {
  const { "proxy-url": value } = cluster;
  if (isNone(value)) return undefined;
  const { protocol, host, href } = new URL(String(value));
  const options = { keepAlive: true };
  if (!protocol.startsWith("socks5")) {
    const { HttpsProxyAgent } = await import("https-proxy-agent");
    return { agent: new HttpsProxyAgent(href, options), address: host };
  }
  const { SocksProxyAgent } = await import("socks-proxy-agent");
  return { agent: new SocksProxyAgent(href.replace(/^socks5:/, "socks5h:"), options), address: host };
}

const isNone = (value: unknown): boolean => value === undefined || value === null || value === "";
