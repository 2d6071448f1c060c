import { describeApi } from "./api-description";
import { regionNameOf, type FakeClouds } from "./clouds";
import type { Faults } from "./faults";
import { ok, type Route } from "./router";
import { type State, type StoredNamespace } from "./state";
import { Refusal, textOf, type Wire } from "./wire";

/** The names that the server accepts. */
export const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
export const BAD_NAME =
  "The first character of name must be a lowercase letter, and all following characters must be a dash, " +
  "lowercase letter, or digit, except the last character, which cannot be a dash.";

/** Routes for health, namespaces, connections, regions, and the clouds' machine types and images. */
export function cloudRoutes(state: State, clouds: FakeClouds, wire: Wire, faults: Faults): Route[] {
  const isMcis = wire.generation === "mcis";
  const refused = isMcis ? 400 : 500;
  // the newer server has a default namespace
  const preset: StoredNamespace[] = isMcis
    ? []
    : [{ id: "default", description: "Default Namespace", resources: [], infrastructures: [] }];
  const connection = (name: string) => {
    // the newer server has connections in its own store
    if (isMcis && faults.isSpiderDown)
      throw new Refusal(404, "an error occurred while requesting to CB-Spider");
    const found = clouds.connection(name);
    if (found === undefined) throw wire.missing("connection", name, "read", "/connConfig");
    return found;
  };
  return [
    ...(isMcis
      ? [
          {
            method: "GET",
            path: "/health",
            handle: () => ok({ message: "API server of CB-Tumblebug is alive" }),
          },
        ]
      : [
          {
            method: "GET",
            path: "/readyz",
            handle: () =>
              ok({ message: "CB-Tumblebug is ready and initialized", ready: true, initialized: true }),
          },
          {
            method: "GET",
            path: "/api/doc.json",
            handle: () => ok(describeApi(faults.isOfRefusedRelease ? "0.12.8" : "0.13.0")),
          },
          { method: "GET", path: "/livez", handle: () => ok({ message: "CB-Tumblebug is alive" }) },
        ]),
    {
      method: "GET",
      path: "/connConfig",
      handle: () => ok({ connectionconfig: clouds.connections.map((each) => wire.showConnection(each)) }),
    },
    {
      method: "GET",
      path: "/connConfig/:name",
      handle: ({ params }) => {
        const shown = wire.showConnection(connection(params["name"] ?? ""));
        return ok(isMcis && faults.isOfRefusedRelease ? withLowerCaseNames(shown) : shown);
      },
    },
    {
      method: "GET",
      path: "/region/:name",
      handle: ({ params }) => {
        const found = clouds.connections.find((each) => regionNameOf(each) === params["name"]);
        if (!isMcis || found === undefined)
          throw new Refusal(404, `${params["name"] ?? ""}: does not exist!`);
        const pairs: Record<string, string> =
          found.provider === "azure"
            ? { location: found.region, ResourceGroup: "foresail" }
            : { Region: found.region, ...(found.zone === "" ? {} : { Zone: found.zone }) };
        return ok({
          RegionName: params["name"] ?? "",
          ProviderName: found.provider.toUpperCase(),
          KeyValueInfoList: Object.entries(pairs).map(([Key, Value]) => ({ Key, Value })),
        });
      },
    },
    {
      method: "POST",
      path: "/lookupSpec",
      handle: ({ body }) => {
        const { region } = connection(textOf(body, "connectionName"));
        const name = wire.readCloudSpecName(body);
        const spec = clouds.spec(name);
        if (spec === undefined) throw wire.notInCloud("spec", name, "lookup");
        return ok(wire.showCloudSpec({ ...spec, region }));
      },
    },
    {
      method: "POST",
      path: "/lookupSpecs",
      handle: ({ body }) => {
        const { region } = connection(textOf(body, "connectionName"));
        return ok({ vmspec: clouds.specs.map((spec) => wire.showCloudSpec({ ...spec, region })) });
      },
    },
    {
      method: "POST",
      path: "/lookupImage",
      handle: ({ body }) => {
        connection(textOf(body, "connectionName"));
        const name = wire.readCloudImageName(body);
        const image = clouds.image(name);
        if (image === undefined) throw wire.notInCloud("image", name, "lookup");
        return ok(wire.showCloudImage(image));
      },
    },
    {
      method: "POST",
      path: "/lookupImages",
      handle: ({ body }) => {
        connection(textOf(body, "connectionName"));
        return ok({ image: clouds.images.map((image) => wire.showCloudImage(image)) });
      },
    },
    {
      method: "POST",
      path: "/ns",
      handle: ({ body }) => {
        const name = textOf(body, "name");
        if (!NAME.test(name)) throw new Refusal(400, BAD_NAME);
        if (state.namespace(name) !== undefined)
          throw new Refusal(refused, `CreateNs(); The namespace ${name} already exists.`);
        const made = {
          id: name,
          description: textOf(body, "description"),
          resources: [],
          infrastructures: [],
        };
        state.namespaces.push(made);
        state.save();
        return ok(wire.showNamespace(made));
      },
    },
    {
      method: "GET",
      path: "/ns",
      handle: () => ok({ ns: [...preset, ...state.namespaces].map((each) => wire.showNamespace(each)) }),
    },
    {
      method: "GET",
      path: "/ns/:ns",
      handle: ({ params }) => ok(wire.showNamespace(state.namespace(params["ns"] ?? "") as StoredNamespace)),
    },
    {
      method: "DELETE",
      path: "/ns/:ns",
      handle: ({ params }) => {
        const found = state.namespace(params["ns"] ?? "") as StoredNamespace;
        const left = notEmpty(found, wire);
        if (left !== undefined) throw new Refusal(refused, left);
        state.namespaces.splice(state.namespaces.indexOf(found), 1);
        state.save();
        return ok({ message: `The ns ${found.id} has been deleted` });
      },
    },
    {
      method: "GET",
      path: "/checkNs/:name",
      handle: ({ params }) => {
        const exists = state.namespace(params["name"] ?? "") !== undefined;
        return ok(isMcis ? { exists } : exists);
      },
    },
  ];
}

/** Returns why a namespace can't be deleted. The newer server has no list of specs and does not count them. */
function notEmpty(
  { id, infrastructures, resources }: StoredNamespace,
  { title, infrastructure, generation }: Wire,
): string | undefined {
  const kinds = ["image", "vNet", "securityGroup", "spec", "sshKey"] as const;
  const counted = resources.filter(({ kind }) => generation === "mcis" || kind !== "spec");
  if (infrastructures.length + counted.length === 0) return undefined;
  const counts = [
    [infrastructure, infrastructures.length],
    ...kinds.map((kind) => [kind, counted.filter((each) => each.kind === kind).length]),
  ];
  const lines = counts.map(([name, count]) => ` \n len(${name}List): ${count}`).join("");
  return `Cannot delete NS ${id}, which is not empty. There exists at least one ${title} or one of resources.${lines}`;
}

/** A connection as releases 0.9.0 to 0.9.4 show it: `configName`. */
function withLowerCaseNames(connection: object): object {
  const entries = Object.entries(connection);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.charAt(0).toLowerCase() + name.slice(1), value as unknown]),
  );
}
