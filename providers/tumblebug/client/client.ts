import type { z } from "zod";
import type { CloudImage, CloudSpec, Connection, Region } from "../plan/model";
import { readAnswer } from "./answer";
import type { TumblebugApi } from "./api";
import type { Dialect } from "./dialect";
import { isRefusal } from "./existence";
import { InfrastructureCalls } from "./infrastructures";
import { LoadBalancerCalls } from "./load-balancers";
import { LOOKING, type Looking } from "./make-once";
import { NamespaceCalls } from "./namespaces";
import { Resources } from "./resource-kind";
import { SecurityGroupCalls } from "./security-groups";
import type { Tumblebug } from "./tumblebug";

/** Client for one server, with the dialect of its generation. */
export class TumblebugClient implements Tumblebug {
  readonly generation;
  readonly namespaces;
  readonly vNets;
  readonly securityGroups;
  readonly sshKeys;
  readonly images;
  readonly specs;
  readonly infrastructures;
  readonly loadBalancers;

  constructor(
    private readonly api: TumblebugApi,
    private readonly dialect: Dialect,
    looking: Looking = LOOKING,
  ) {
    const { saysNotFound } = dialect;
    this.generation = dialect.generation;
    this.namespaces = new NamespaceCalls(api, looking);
    this.vNets = new Resources(api, dialect.vNets, saysNotFound, looking);
    this.securityGroups = new SecurityGroupCalls(api, dialect, looking);
    this.sshKeys = new Resources(api, dialect.sshKeys, saysNotFound, looking);
    this.images = dialect.images && new Resources(api, dialect.images, saysNotFound, looking);
    this.specs = new Resources(api, dialect.specs, saysNotFound, looking);
    this.infrastructures = new InfrastructureCalls(api, dialect, looking);
    this.loadBalancers = new LoadBalancerCalls(api, dialect, looking);
  }

  readConnection(name: string): Promise<Connection | undefined> {
    return this.orNothing(() => this.get(`/connConfig/${encodeURIComponent(name)}`, this.dialect.connection));
  }

  readRegion(connection: Connection): Promise<Region> {
    return this.get(this.dialect.regionPath(connection), this.dialect.region);
  }

  lookupSpec(connection: string, cloudSpec: string): Promise<CloudSpec | undefined> {
    const { dialect } = this;
    return this.orNothing(() =>
      this.ask("/lookupSpec", dialect.specLookup(connection, cloudSpec), dialect.cloudSpec),
    );
  }

  lookupImage(connection: string, cloudImage: string): Promise<CloudImage | undefined> {
    const { dialect } = this;
    return this.orNothing(() =>
      this.ask("/lookupImage", dialect.imageLookup(connection, cloudImage), dialect.cloudImage),
    );
  }

  lookupImages(connection: string): Promise<CloudImage[]> {
    return this.ask("/lookupImages", { connectionName: connection }, this.dialect.cloudImages);
  }

  close(): void {
    this.api.close();
  }

  private async get<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    const reply = await this.api.call({ method: "GET", path, isRepeatable: true });
    return readAnswer(`GET ${path}`, schema, reply);
  }

  /** Sends a query as POST. */
  private async ask<T>(path: string, body: unknown, schema: z.ZodType<T>): Promise<T> {
    const reply = await this.api.call({ method: "POST", path, body, isRepeatable: true });
    return readAnswer(`POST ${path}`, schema, reply);
  }

  private async orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (isRefusal(error, "NotFound")) return undefined;
      throw error;
    }
  }
}
