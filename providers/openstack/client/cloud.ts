import { AnswerTooLarge, HttpClient, type HttpRequest, type HttpResponse } from "../../../lib/http-client";
import { retryAfterSeconds } from "../../../lib/retry-after";
import { Transient, waitFor, WaitTimeout } from "../../../lib/wait";
import type { CloudRef } from "../plan/cloud-facts";
import { readCloudConfiguration, type CloudConfiguration } from "./cloud-configuration";
import { CloudConfigurationError, CloudRefusal, CloudUnreachable, remoteWords } from "./errors";

/** Service types that foresail calls, with the API version in their path. */
const SERVICES = {
  identity: { types: ["identity"], version: "v3" },
  compute: { types: ["compute"], version: "v2.1" },
  network: { types: ["network"], version: "v2.0" },
  image: { types: ["image"], version: "v2" },
  "load-balancer": { types: ["load-balancer"], version: "v2" },
  "block-storage": { types: ["block-storage", "volumev3"], version: "v3" },
};

export type CloudService = keyof typeof SERVICES;

interface CloudOptions {
  /** Deadline of one call, including retries. @default 120 */
  seconds?: number;
  signal?: AbortSignal;
  progress?: (line: string) => void;
}

/** A token as Keystone describes it, with its secret value. */
interface Token {
  value: string;
  expires_at: string;
  catalog?: {
    type: string;
    endpoints: { interface: string; region?: string; region_id?: string; url: string }[];
  }[];
  /** Absent if the token has no project as its scope. */
  project?: { id: string };
  user?: { id: string };
  /** A restricted application credential can't create others. */
  application_credential?: { restricted?: boolean };
}

const ATTEMPT_MILLISECONDS = 30_000;
/** Time before expiry at which a token is renewed. */
const MARGIN_MILLISECONDS = 120_000;
const PASSING = [429, 500, 502, 503, 504];

/** Client for one cloud's APIs. Renews its token before it expires. Call `close()` after use. */
export class Cloud {
  private readonly http: HttpClient;
  private pending?: Promise<Token>;

  constructor(
    readonly configuration: CloudConfiguration,
    private readonly options: CloudOptions = {},
  ) {
    const { caCertificates, verify } = configuration;
    this.http = new HttpClient({ ca: caCertificates, rejectUnauthorized: verify });
  }

  /** Runs work with a client, and closes it. @throws CloudConfigurationError, and what the work throws */
  static async use<T>(ref: CloudRef, options: CloudOptions, work: (cloud: Cloud) => Promise<T>): Promise<T> {
    const cloud = new Cloud(await readCloudConfiguration(ref), options);
    try {
      return await work(cloud);
    } finally {
      cloud.close();
    }
  }

  /**
   * Sends a request, and retries with growing pauses while the service is temporarily unavailable, or after the pause
   * that it asks for.
   *
   * @param path path after the service's version, starting with "/"; or the service's link to its next page
   * @returns the JSON body of the response
   * @throws CloudRefusal, CloudUnreachable
   */
  async call(
    service: CloudService,
    method: HttpRequest["method"],
    path: string,
    body?: unknown,
  ): Promise<Record<string, unknown>> {
    const what = `${method} ${service}${path.startsWith("/") ? path : new URL(path).pathname}`;
    const reply = await this.patiently(what, (signal) =>
      this.attempt(service, { method, body, signal }, path),
    );
    if (reply.status < 300) return (reply.body ?? {}) as Record<string, unknown>;
    throw new CloudRefusal(what, reply);
  }

  /** Returns all items of a paginated list. @param key property of the response that contains them */
  async list<Item>(service: CloudService, path: string, key: string): Promise<Item[]> {
    const items: Item[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const page: Record<string, unknown> = await this.call(service, "GET", next);
      items.push(...((page[key] ?? []) as Item[]));
      const links = (page[`${key}_links`] ?? []) as { rel: string; href: string }[];
      const following: unknown = links.find(({ rel }) => rel === "next")?.href ?? page.next;
      next = typeof following !== "string" ? undefined : following.replace(/^\/v2(?=\/)/, "");
    }
    return items;
  }

  /** Returns whether the cloud has a service in this region. */
  async has(service: CloudService): Promise<boolean> {
    return this.endpoint(await this.token(), service) !== undefined;
  }

  /** Returns a valid token, with retries. */
  token(): Promise<Token> {
    return this.patiently("authentication", () => this.freshToken());
  }

  close(): void {
    this.http.close();
  }

  /** Retries transient errors until the deadline. @throws CloudUnreachable at the deadline, or any permanent error */
  private async patiently<T>(what: string, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { seconds = 120, ...options } = this.options;
    try {
      return await waitFor({
        what,
        seconds,
        firstPauseMilliseconds: 500,
        ...options,
        probe: async (signal) => ({ done: await attempt(signal) }),
      });
    } catch (error) {
      if (error instanceof WaitTimeout) throw new CloudUnreachable(what, error.lastSeen, seconds);
      throw error;
    }
  }

  private async attempt(
    service: CloudService,
    request: Pick<HttpRequest, "method" | "body" | "signal">,
    path: string,
  ): Promise<HttpResponse> {
    for (let renewed = false; ; renewed = true) {
      const token = await this.freshToken();
      const url = this.urlOf(token, service, path);
      const headers = { "X-Auth-Token": token.value };
      const reply = await this.http
        .send({ ...request, url, headers, milliseconds: ATTEMPT_MILLISECONDS })
        .catch((error: Error) => {
          const isFinal = request.signal?.aborted || error instanceof AnswerTooLarge;
          throw isFinal ? error : new Transient(error.message);
        });
      if (PASSING.includes(reply.status))
        throw new Transient(`${reply.status} ${remoteWords(reply)}`, retryAfterSeconds(reply));
      // Keystone may revoke a token before it expires.
      if (reply.status !== 401 || renewed) return reply;
      this.pending = undefined;
    }
  }

  /** Returns the token, or requests another one shortly before it expires. */
  private async freshToken(): Promise<Token> {
    const known = await this.pending;
    if (known && Date.parse(known.expires_at) - Date.now() > MARGIN_MILLISECONDS) return known;
    const renewal = this.requestToken();
    this.pending = renewal;
    try {
      return await renewal;
    } catch (error) {
      this.pending = undefined;
      if (!(error instanceof CloudRefusal))
        throw new Transient(`authentication: ${(error as Error).message}`);
      if (!PASSING.includes(error.status)) throw error;
      throw new Transient(error.message, error.retryAfterSeconds);
    }
  }

  /** Requests a token from Keystone (v3). @throws CloudRefusal; Error when Keystone does not answer */
  private async requestToken(): Promise<Token> {
    const { authUrl, auth } = this.configuration;
    const url = `${authUrl}/auth/tokens`;
    const body = { auth };
    const reply = await this.http.send({ method: "POST", url, body, milliseconds: ATTEMPT_MILLISECONDS });
    const value = reply.headers["x-subject-token"];
    if (reply.status !== 201 || typeof value !== "string") throw new CloudRefusal("authentication", reply);
    return { ...(reply.body as { token: Omit<Token, "value"> }).token, value };
  }

  /** Returns the URL of a path. A link of the service is followed at its own endpoint only, which gets the token. */
  private urlOf(token: Token, service: CloudService, path: string): string {
    const base = this.endpoint(token, service);
    if (base !== undefined && path.startsWith("/")) return `${base}${path}`;
    if (base !== undefined) {
      const { pathname, search } = new URL(path);
      return new URL(base).origin + pathname + search;
    }
    const { region } = this.configuration;
    const where = region ? ` in the region "${region}"` : "";
    throw new CloudConfigurationError(`the cloud's catalog has no ${service} service${where}`);
  }

  private endpoint({ catalog = [] }: Token, service: CloudService): string | undefined {
    const { types, version } = SERVICES[service];
    const { region, interface: wanted } = this.configuration;
    const found = catalog
      .filter(({ type }) => types.includes(type))
      .flatMap(({ endpoints }) => endpoints)
      .find((one) => one.interface === wanted && (!region || (one.region_id ?? one.region) === region));
    const bare = found?.url.replace(/\/+$/, "");
    return bare === undefined || /\/v\d[\d.]*(\/[^/]+)?$/.test(bare) ? bare : `${bare}/${version}`;
  }
}
