import { z } from "zod";
import type { CloudSpec, Generation } from "../plan/model";
import { describedGroupFields, type GroupFields } from "../plan/releases";
import { TumblebugApi, type TumblebugOptions, type TumblebugSettings } from "./api";
import { dialectOf, type Connection } from "./dialect";
import { TumblebugRefusal, TumblebugUnreachable, UnexpectedAnswer } from "./errors";
import { Infrastructures, LoadBalancers } from "./infrastructures";
import { Namespaces, Objects, SecurityGroups } from "./objects";
import { pathOf, Requests } from "./requests";

/**
 * Opens a client for a server. Detects the generation if `settings` has none.
 *
 * @throws TumblebugRefusal, TumblebugUnreachable; UnexpectedAnswer if it is not a Tumblebug server of either generation
 */
export async function openTumblebug(
  settings: TumblebugSettings,
  options: TumblebugOptions = {},
): Promise<Tumblebug> {
  const api = new TumblebugApi(settings, options);
  try {
    return new Tumblebug(
      new Requests(api, dialectOf(settings.generation ?? (await findGeneration(api)), api.hide)),
    );
  } catch (error) {
    api.close();
    throw error;
  }
}

/**
 * A Tumblebug server of either generation. Every call may throw TumblebugRefusal, TumblebugUnreachable,
 * UnexpectedAnswer and the signal's reason; changes may also throw ReplyLost. Call `close()` after use.
 */
export class Tumblebug {
  private readonly dialect = this.requests.dialect;
  readonly generation = this.dialect.generation;
  readonly namespaces = new Namespaces(this.requests);
  readonly vNets = new Objects(this.requests, this.dialect.vNets);
  readonly securityGroups = new SecurityGroups(this.requests, this.dialect.securityGroups);
  readonly sshKeys = new Objects(this.requests, this.dialect.sshKeys);
  /** Undefined for `infra`, where VMs refer to the cloud's image and images are not registered. */
  readonly images = this.dialect.images && new Objects(this.requests, this.dialect.images);
  readonly specs = new Objects(this.requests, this.dialect.specs);
  readonly infrastructures = new Infrastructures(this.requests);
  readonly loadBalancers = new LoadBalancers(this.requests);

  constructor(private readonly requests: Requests) {}

  /**
   * Reads a connection; undefined if the server has none of this name.
   * @throws TumblebugRefusal "SpiderDown" if that is unknown
   */
  readConnection(name: string): Promise<Connection | undefined> {
    return this.find(pathOf("connConfig", name), this.dialect.connection);
  }

  /**
   * Reads region and zone of a connection, "" if the cloud does not report it; undefined if the server has no such
   * region. @throws TumblebugRefusal "SpiderDown" if that is unknown
   */
  readRegion(connection: Connection) {
    return this.find(pathOf(...this.dialect.regionPath(connection)), this.dialect.region);
  }

  /** Looks up a machine type in the cloud; undefined if it does not exist. @throws TumblebugRefusal "SpiderDown" */
  lookupSpec(connection: string, cloudSpec: string): Promise<CloudSpec | undefined> {
    const { cloudSpec: answer, specLookup } = this.dialect;
    return this.find("/lookupSpec", answer, specLookup(connection, cloudSpec));
  }

  /** Looks up an image in the cloud; undefined if it does not exist. @throws TumblebugRefusal "SpiderDown" */
  lookupImage(connection: string, cloudImage: string): Promise<{ name: string } | undefined> {
    const { cloudImage: answer, imageLookup } = this.dialect;
    return this.find("/lookupImage", answer, imageLookup(connection, cloudImage));
  }

  /**
   * Reads the fields of a group of VMs from the server's description of its API, which is long. Undefined for `mcis`,
   * and if the server shows no description.
   */
  async readGroupFields(): Promise<GroupFields | undefined> {
    if (this.generation === "mcis") return undefined;
    const { groupBody } = this.dialect;
    try {
      const described = describedGroupFields(await this.requests.send("/api/doc.json", z.unknown()));
      return described && { described, sent: Object.keys(groupBody(ANY_GROUP)) };
    } catch (error) {
      if (
        error instanceof TumblebugRefusal ||
        error instanceof UnexpectedAnswer ||
        error instanceof TumblebugUnreachable
      )
        return undefined;
      throw error;
    }
  }

  close(): void {
    this.requests.api.close();
  }

  /** Sends a query, as POST if it has a body. */
  private find<T>(path: string, answer: z.ZodType<T>, body?: object): Promise<T | undefined> {
    const call = body && { method: "POST" as const, body };
    return this.requests.orElse<T | undefined>(undefined, ["NotFound"], () =>
      this.requests.send(path, answer, call),
    );
  }
}

/** Any group of VMs: only the names of its fields matter. */
const ANY_GROUP = {
  name: "",
  size: 1,
  connection: "",
  spec: "",
  image: "",
  vNet: "",
  subnet: "",
  securityGroups: [],
  sshKey: "",
  user: "",
};

/** Any valid name: only the existence of the route matters. */
const ANY = "foresail";

/**
 * Detects a server's generation with routes that only one generation has. A server with the route answers with an error
 * about the namespace, a server without it with "Not Found".
 */
async function findGeneration(api: TumblebugApi): Promise<Generation> {
  if (await hasPath(api, `/ns/${ANY}/checkInfra/${ANY}`)) return "infra";
  if (await hasPath(api, `/ns/${ANY}/checkMcis/${ANY}`)) return "mcis";
  const reason = (await hasPath(api, `/ns/${ANY}/checkMci/${ANY}`))
    ? 'its API has the generation "mci" (after 0.9.4 and before 0.12.6), which foresail does not support'
    : "it has neither infras nor MCIS; does the address end with /tumblebug?";
  throw new UnexpectedAnswer("detecting the server's generation", reason);
}

async function hasPath(api: TumblebugApi, path: string): Promise<boolean> {
  try {
    await api.call({ method: "GET", path, isRepeatable: true });
    return true;
  } catch (error) {
    if (!(error instanceof TumblebugRefusal)) throw error;
    if (["Redirected", "Unauthorized", "RateLimited", "Unavailable"].includes(error.code)) throw error;
    return error.status !== 404 || /Not valid namespace/i.test(error.remote);
  }
}
