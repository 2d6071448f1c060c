import { z } from "zod";
import { list, readAnswer } from "./answer";
import type { TumblebugApi } from "./api";
import { deleteObject } from "./delete-object";
import type { ResourceDialect } from "./dialect";
import { exists, isRefusal, readOrNothing } from "./existence";
import { makeOnce, type Looking } from "./make-once";
import type { ResourceKind } from "./tumblebug";

/** Calls for objects of one kind, with the dialect of one generation. */
export class Resources<
  Wish extends { readonly name: string },
  Found extends { readonly name: string },
> implements ResourceKind<Wish, Found> {
  constructor(
    private readonly api: TumblebugApi,
    private readonly dialect: ResourceDialect<Wish, Found>,
    private readonly saysNotFound: boolean,
    private readonly looking: Looking,
  ) {}

  get keepsDescription(): boolean {
    return this.dialect.keepsDescription ?? true;
  }

  async read(namespace: string, id: string): Promise<Found | undefined> {
    const found = await readOrNothing(
      async () => {
        const path = this.path(namespace, id);
        const reply = await this.api.call({ method: "GET", path, isRepeatable: true });
        return readAnswer(`GET ${path}`, this.dialect.answer, reply);
      },
      this.saysNotFound,
      () => this.isThere(namespace, id),
    );
    // The server also finds specs by the cloud's name.
    return found?.name === id ? found : undefined;
  }

  async list(namespace: string): Promise<Found[]> {
    const { type, answer } = this.dialect;
    const path = this.path(namespace);
    const lists = z.looseObject({ [type]: list(answer) });
    try {
      const reply = await this.api.call({ method: "GET", path, isRepeatable: true });
      return readAnswer(`GET ${path}`, lists, reply)[type] as Found[];
    } catch (error) {
      if (isRefusal(error, "NamespaceNotFound")) return [];
      throw error;
    }
  }

  async named(namespace: string, names: readonly string[]): Promise<Found[]> {
    if (names.length === 0) return [];
    if (this.dialect.isListed ?? true)
      return (await this.list(namespace)).filter(({ name }) => names.includes(name));
    const found = await Promise.all(names.map((name) => this.read(namespace, name)));
    return found.filter((one) => one !== undefined);
  }

  create(namespace: string, desired: Wish): Promise<Found> {
    const { dialect, api } = this;
    const path = `${this.path(namespace)}${dialect.createQuery}`;
    return makeOnce(
      async () => {
        const body = dialect.request(desired);
        const reply = await api.call({ method: "POST", path, body, isRepeatable: false });
        return readAnswer(`POST ${path}`, dialect.answer, reply);
      },
      () => this.read(namespace, desired.name),
      { looking: this.looking, ...(api.options.signal ? { signal: api.options.signal } : {}) },
    );
  }

  delete(namespace: string, id: string): Promise<boolean> {
    return deleteObject(this.api, {
      what: `the ${this.dialect.type} ${id}`,
      path: `${this.path(namespace, id)}${this.dialect.deleteQuery}`,
      isThere: () => this.isThere(namespace, id),
    });
  }

  private isThere(namespace: string, id: string): Promise<boolean> {
    return exists(this.api, `/ns/${namespace}/checkResource/${this.dialect.type}/${encodeURIComponent(id)}`);
  }

  private path(namespace: string, id?: string): string {
    const folder = `/ns/${namespace}/resources/${this.dialect.type}`;
    return id === undefined ? folder : `${folder}/${encodeURIComponent(id)}`;
  }
}
