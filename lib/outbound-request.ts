import http, { type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import { HttpsProxyAgent } from "https-proxy-agent";

/** A request without a body to a server of others. */
interface OutboundRequest {
  readonly method?: "GET" | "HEAD";
  readonly headers?: OutgoingHttpHeaders;
  readonly signal?: AbortSignal;
  /** How long the server may send nothing; default: as long as the signal lets it. */
  readonly idleMilliseconds?: number;
}

const MOST_REDIRECTS = 5;

/**
 * Sends a request through the proxy of the environment (HTTPS_PROXY, NO_PROXY), and follows redirects: without the login on
 * another server, and never from https to http.
 */
export async function requestOutbound(
  url: string,
  sent: OutboundRequest = {},
  redirects = 0,
): Promise<IncomingMessage> {
  const response = await send(url, sent);
  const { location } = response.headers;
  const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode ?? 0);
  if (!isRedirect || location === undefined || redirects === MOST_REDIRECTS) return response;
  response.resume();
  const next = new URL(location, url);
  if (url.startsWith("https:") && next.protocol !== "https:")
    throw new Error(`${new URL(url).host} redirects to plain http (${next.host})`);
  const { authorization, ...others } = sent.headers ?? {};
  const isSameServer = next.origin === new URL(url).origin;
  const headers = isSameServer && authorization !== undefined ? { ...others, authorization } : others;
  return requestOutbound(next.href, { ...sent, headers }, redirects + 1);
}

function send(url: string, { method = "GET", headers, signal, idleMilliseconds }: OutboundRequest) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const agent = proxyFor(new URL(url));
    const library = url.startsWith("https:") ? https : http;
    let response: IncomingMessage | undefined;
    const request = library.request(url, { method, headers, agent, signal }, (received) => {
      response = received;
      resolve(received);
    });
    request.on("error", reject);
    // the agent passes a refusal of the proxy on, which would count as the server's answer
    request.on("proxyConnect", ({ statusCode }: { statusCode: number }) => {
      if (statusCode !== 200)
        request.destroy(new Error(`the proxy refuses the connection with status ${statusCode}`));
    });
    if (idleMilliseconds !== undefined)
      request.setTimeout(idleMilliseconds, () =>
        (response ?? request).destroy(new Error(`nothing arrived for ${idleMilliseconds / 1000} s`)),
      );
    request.end();
  });
}

function proxyFor({ protocol, hostname }: URL): HttpsProxyAgent<string> | undefined {
  const { HTTPS_PROXY: proxy = process.env.https_proxy, NO_PROXY: direct = process.env.no_proxy ?? "" } =
    process.env;
  const isDirect = direct
    .split(",")
    .map((entry) => entry.trim().replace(/^\*?\./, ""))
    .some((domain) => domain !== "" && (domain === "*" || `.${hostname}`.endsWith(`.${domain}`)));
  return protocol === "https:" && proxy && !isDirect ? new HttpsProxyAgent(proxy) : undefined;
}
