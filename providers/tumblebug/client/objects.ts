import type { FirewallRule } from "../plan/model";
import { rulesNotIn } from "../plan/security-rules";
import { list, record, answerText, answerWord } from "./answer";
import type { ObjectDialect } from "./dialect";
import { ReplyLost, TumblebugRefusal } from "./errors";
import { pathOf, type Item, type Requests } from "./requests";

interface Namespace {
  readonly name: string;
  readonly description: string;
}

const namespace = record({ name: [answerWord, "id|name"], description: [answerText, "description"] });

/** Calls for namespaces, which are the same in both generations. */
export class Namespaces {
  constructor(private readonly requests: Requests) {}

  read(name: string): Promise<Namespace | undefined> {
    return this.requests.orElse<Namespace | undefined>(undefined, ["NamespaceNotFound"], () =>
      this.requests.send(pathOf("ns", name), namespace),
    );
  }

  /** @throws TumblebugRefusal "AlreadyExists" */
  create({ name, description = "" }: { name: string; description?: string }): Promise<Namespace> {
    return this.requests.create("/ns", { name, description }, namespace, () => this.read(name));
  }

  /** @returns false if it did not exist. @throws TumblebugRefusal "InUse" if it is not empty */
  delete(name: string): Promise<boolean> {
    return this.requests.delete({
      what: `the namespace ${name}`,
      path: pathOf("ns", name),
      isThere: async () => (await this.read(name)) !== undefined,
      inUseSeconds: 0,
    });
  }
}

/** Calls for a kind of object in a namespace that VMs are created from. */
export class Objects<Desired extends { readonly name: string }, Found extends { readonly name: string }> {
  constructor(
    protected readonly requests: Requests,
    private readonly dialect: ObjectDialect<Desired, Found>,
  ) {}

  /** Whether the server stores the description; for specs, both generations return an empty one. */
  get keepsDescription(): boolean {
    return this.dialect.keepsDescription;
  }

  async read(namespace: string, id: string): Promise<Found | undefined> {
    const found = await this.requests.find(this.item(namespace, id), this.dialect.answer);
    // The server also finds specs by the cloud's name.
    return found?.name === id ? found : undefined;
  }

  /** @throws TumblebugRefusal "NoSuchRoute" for specs of `infra`, which can't list them */
  list(namespace: string): Promise<Found[]> {
    const { type, answer } = this.dialect;
    const all = record({ objects: [list(answer), type] });
    return this.requests.orElse<Found[]>([], ["NamespaceNotFound"], async () => {
      return (await this.requests.send(this.path(namespace), all)).objects;
    });
  }

  /** Returns the existing objects with these names, from the list or, if the server has no list, one by one. */
  async named(namespace: string, names: readonly string[]): Promise<Found[]> {
    if (names.length === 0) return [];
    if (this.dialect.isListed) return (await this.list(namespace)).filter(({ name }) => names.includes(name));
    const found = await Promise.all(names.map((name) => this.read(namespace, name)));
    return found.filter((one) => one !== undefined);
  }

  /**
   * Creates the object. If the response is lost, searches for the object and retries only if it does not exist.
   * @throws TumblebugRefusal "AlreadyExists", "NamespaceNotFound"
   */
  create(namespace: string, desired: Desired): Promise<Found> {
    const { createQuery, answer } = this.dialect;
    const look = () => this.read(namespace, desired.name);
    return this.requests.create(this.path(namespace) + createQuery, this.dialect.body(desired), answer, look);
  }

  /**
   * Deletes the object and waits until it no longer exists, about a minute. Deletes the record of an object that the
   * cloud no longer has with the server's force.
   * @returns false if it did not exist
   * @throws TumblebugRefusal "InUse"; "DeletionPending" if the cloud has not confirmed the deletion by the deadline
   */
  delete(namespace: string, id: string): Promise<boolean> {
    const { forceQuery } = this.dialect;
    return this.requests.delete({ ...this.item(namespace, id), query: this.dialect.deleteQuery, forceQuery });
  }

  private item(namespace: string, id: string): Item {
    const { type } = this.dialect;
    const isThere = () => this.requests.exists(pathOf("ns", namespace, "checkResource", type, id));
    return { what: `the ${type} ${id}`, path: this.path(namespace, id), isThere };
  }

  protected path(namespace: string, id?: string): string {
    return pathOf("ns", namespace, "resources", this.dialect.type, id);
  }
}

const ATTEMPTS = 3;

/** Calls for security groups. Only their rules can change, even while VMs use them. */
export class SecurityGroups<
  Desired extends { readonly name: string },
  Found extends { readonly name: string; readonly rules: FirewallRule[] },
> extends Objects<Desired, Found> {
  /** Adds rules; ignores existing ones. @throws TumblebugRefusal "NotFound" */
  addRules(namespace: string, id: string, rules: readonly FirewallRule[]): Promise<Found> {
    return this.change("POST", namespace, id, (found) => rulesNotIn(found, rules));
  }

  /** Removes rules; ignores missing ones. @throws TumblebugRefusal "NotFound" */
  removeRules(namespace: string, id: string, rules: readonly FirewallRule[]): Promise<Found> {
    return this.change("DELETE", namespace, id, (found) => rulesNotIn(rulesNotIn(found, rules), rules));
  }

  /**
   * Adds or removes rules. Reads the group before the request, and again after a lost response, because the server
   * refuses rules that are already added or removed.
   */
  private async change(
    method: "POST" | "DELETE",
    namespace: string,
    id: string,
    left: (found: readonly FirewallRule[]) => readonly FirewallRule[],
  ): Promise<Found> {
    const { api, dialect } = this.requests;
    const path = `${this.path(namespace, id)}/rules`;
    const what = `${method} ${path}`;
    for (let attempt = 1; ; attempt++) {
      const found = await this.read(namespace, id);
      if (found === undefined)
        throw new TumblebugRefusal(what, 404, `there is no security group ${id}`, "NotFound");
      const rules = left(found.rules);
      if (rules.length === 0) return found;
      if (attempt > ATTEMPTS) throw new ReplyLost(what, `after ${ATTEMPTS} attempts rules are still missing`);
      try {
        await api.call({ method, path, body: dialect.rulesBody(rules), isRepeatable: false });
      } catch (error) {
        if (!(error instanceof ReplyLost)) throw error;
      }
    }
  }
}
