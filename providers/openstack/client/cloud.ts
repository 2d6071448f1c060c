import { redact } from "../../../lib/text/redaction";
import { Transient, waitFor, WaitTimeout } from "../../../lib/wait";
import { readCloudConfiguration, type CloudConfiguration } from "./cloud-configuration";
import { CloudConfigurationError, CloudRefusal, CloudUnreachable, refusalCode, remoteWords } from "./errors";
import { HttpClient, type HttpRequest, type HttpResponse } from "../../../lib/http-client";
import { isFresh, obtainToken, type Token } from "./token";

/** Service types that foresail calls, with the API version in their path. */
const SERVICES = {
  identity: { types: ["identity"], version: "v3" },
  compute: { types: ["compute"], version: "v2.1" },
  network: { types: ["network"], version: "v2.0" },
  image: { types: ["image"], version: "v2" },
  "load-balancer": { types: ["load-balancer"], version: "v2" },
  "block-storage": { types: ["block-storage", "volumev3"], version: "v3" },
} as const;

export type CloudService = keyof typeof SERVICES;

export interface CloudOptions {
  /** Deadline of one call, including retries. */
  seconds?: number;
  signal?: AbortSignal;
  progress?: (line: string) => void;
}

const ATTEMPT_MILLISECONDS = 30_000;
const PASSING = [429, 500, 502, 503, 504];

/** Client for one cloud's APIs. Renews its token before it expires. Call `close()` after use. */
export class Cloud {
  private readonly http: HttpClient;
  private token?: Promise<Token>;

  constructor(
    readonly configuration: CloudConfiguration,
    private readonly options: CloudOptions = {},
  ) {
    const { caCertificates, verify } = configuration;
    this.http = new HttpClient({ ca: caCertificates, rejectUnauthorized: verify });
  }

  /** @throws CloudConfigurationError */
  static async open(desired: { cloud?: string; region?: string }, options?: CloudOptions): Promise<Cloud> {
    return new Cloud(await readCloudConfiguration(desired), options);
  }

  /**
   * Sends a request, and retries with growing pauses while the service is temporarily unavailable.
   *
   * @param path path after the service's version, starting with "/"; or an absolute URL from the service
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
      this.attempt(service, { method, body, ...(signal ? { signal } : {}) }, path),
    );
    if (reply.status < 300) return (reply.body ?? {}) as Record<string, unknown>;
    const words = redact(remoteWords(reply.body, reply.text));
    throw new CloudRefusal(what, reply.status, words, refusalCode(reply.status, words));
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
    const token = await this.authenticate();
    return this.endpoint(token, service) !== undefined;
  }

  /** Returns the id of the credentials' project; undefined if they have none. */
  async project(): Promise<string | undefined> {
    return (await this.authenticate()).project;
  }

  /** Returns the id of the credentials' user; undefined if the cloud does not report it. */
  async user(): Promise<string | undefined> {
    return (await this.authenticate()).user;
  }

  /** Returns whether the credentials are a restricted application credential, which can't create others. */
  async isRestricted(): Promise<boolean> {
    return (await this.authenticate()).restricted;
  }

  close(): void {
    this.http.close();
  }

  /** Returns a valid token, with retries. */
  private authenticate(): Promise<Token> {
    return this.patiently("authentication", () => this.freshToken());
  }

  /** Retries transient errors until the deadline. @throws CloudUnreachable at the deadline, or any permanent error */
  private async patiently<T>(what: string, attempt: (signal?: AbortSignal) => Promise<T>): Promise<T> {
    const seconds = this.options.seconds ?? 120;
    try {
      return await waitFor({
        what,
        seconds,
        firstPauseMilliseconds: 500,
        ...(this.options.signal ? { signal: this.options.signal } : {}),
        ...(this.options.progress ? { progress: this.options.progress } : {}),
        probe: async (signal) => ({ done: await attempt(signal) }),
      });
    } catch (error) {
      if (error instanceof WaitTimeout) throw new CloudUnreachable(what, redact(error.lastSeen), seconds);
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
      const reply = await this.send({
        ...request,
        url: this.urlOf(token, service, path),
        headers: { "X-Auth-Token": token.value },
      });
      if (PASSING.includes(reply.status)) throw new Transient(sayStatus(reply));
      // Keystone may revoke a token before it expires.
      if (reply.status !== 401 || renewed) return reply;
      this.token = undefined;
    }
  }

  private async send(request: Omit<HttpRequest, "milliseconds">): Promise<HttpResponse> {
    try {
      return await this.http.send({ ...request, milliseconds: ATTEMPT_MILLISECONDS });
    } catch (error) {
      if (request.signal?.aborted) throw error;
      throw new Transient((error as Error).message);
    }
  }

  private async freshToken(): Promise<Token> {
    const known = await this.token;
    if (known && isFresh(known)) return known;
    const renewal = obtainToken(this.http, this.configuration, ATTEMPT_MILLISECONDS);
    this.token = renewal;
    try {
      return await renewal;
    } catch (error) {
      this.token = undefined;
      if (error instanceof CloudRefusal && !PASSING.includes(error.status)) throw error;
      throw new Transient(`authentication: ${(error as Error).message}`);
    }
  }

  private urlOf(token: Token, service: CloudService, path: string): string {
    if (!path.startsWith("/")) return path;
    const base = this.endpoint(token, service);
    if (base === undefined)
      throw new CloudConfigurationError(
        `the cloud's catalogue has no ${service} service${this.configuration.region ? ` in the region "${this.configuration.region}"` : ""}`,
      );
    return `${base}${path}`;
  }

  private endpoint(token: Token, service: CloudService): string | undefined {
    const { types, version } = SERVICES[service];
    const { region, interface: wanted } = this.configuration;
    const found = token.catalog
      .filter(({ type }) => (types as readonly string[]).includes(type))
      .flatMap(({ endpoints }) => endpoints)
      .find((one) => one.interface === wanted && (!region || (one.region_id ?? one.region) === region));
    const bare = found?.url.replace(/\/+$/, "");
    return bare === undefined || /\/v\d[\d.]*(\/[^/]+)?$/.test(bare) ? bare : `${bare}/${version}`;
  }
}

function sayStatus({ status, body, text }: HttpResponse): string {
  return `${status} ${remoteWords(body, text)}`;
}
