/** Objects of a simulated cloud, and what its services have in common. */
export type Fields = Record<string, unknown>;

/** An object of a cloud as its API shows it. */
export interface CloudObject extends Fields {
  id: string;
}

/** kind, as the plural in the API's paths → objects */
export type SavedCloud = Readonly<Record<string, readonly CloudObject[]>>;

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Request {
  readonly method: string;
  /** after the service, "/servers/ID" */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Fields;
}

export const PROJECT = "0a1b2c3d4e5f4a6b8c7d8e9f0a1b2c3d";
export const NOT_FOUND: Answer = { status: 404, body: { itemNotFound: { code: 404, message: "not found" } } };

/** All objects of a project. */
export class CloudObjects {
  private readonly objects = new Map<string, CloudObject[]>();

  constructor(saved: SavedCloud) {
    for (const [kind, objects] of Object.entries(saved)) this.objects.set(kind, [...objects]);
  }

  save(): SavedCloud {
    return Object.fromEntries(this.objects);
  }

  all(kind: string): CloudObject[] {
    const found = this.objects.get(kind) ?? [];
    this.objects.set(kind, found);
    return found;
  }

  find(kind: string, id: string | undefined): CloudObject | undefined {
    return this.all(kind).find((object) => object.id === id);
  }

  delete(kind: string, id: string): void {
    this.objects.set(
      kind,
      this.all(kind).filter((object) => object.id !== id),
    );
  }
}

/** Whether an object has the values that a list asks for; what it does not have is another kind of parameter. */
export function matches(object: CloudObject, query: URLSearchParams): boolean {
  const names = new Set(query.keys());
  return [...names].every((name) => !(name in object) || query.getAll(name).includes(String(object[name])));
}
