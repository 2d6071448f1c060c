import type { PretendedClouds } from "./clouds";
import { ok, type Route } from "./router";
import type { State } from "./state";
import { Refusal, textOf, type Wire } from "./wire";

/** The names that the server takes. */
export const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
export const BAD_NAME =
  "The first character of name must be a lowercase letter, and all following characters must be a dash, " +
  "lowercase letter, or digit, except the last character, which cannot be a dash.";

/** Health, namespaces, connections, regions, and what the clouds have. */
export function cloudRoutes(state: State, clouds: PretendedClouds, wire: Wire): Route[] {
  const isEra = wire.generation === "mcis";
  const connection = (name: string) => {
    const found = clouds.connection(name);
    if (found === undefined) throw wire.missing("connection", name, "read");
    return found;
  };
  return [
    ...(isEra
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
      handle: ({ params }) => ok(wire.showConnection(connection(params["name"] ?? ""))),
    },
    {
      method: "GET",
      path: "/region/:name",
      handle: ({ params }) => {
        const found = clouds.connections.find(
          ({ provider, region }) => `${provider}-${region}` === params["name"],
        );
        if (!isEra || found === undefined)
          throw new Refusal(404, `{"message":"region '${params["name"] ?? ""}' does not exist!"}`, true);
        const pairs: Record<string, string> =
          found.provider === "azure"
            ? { location: found.region, ResourceGroup: "foresail" }
            : { Region: found.region, Zone: found.zone };
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
        if (spec === undefined) throw unknown(isEra, `${name}: spec not found`);
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
        if (image === undefined) throw unknown(isEra, `${name}: image not found`);
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
          throw new Refusal(400, `CreateNs(); The namespace ${name} already exists.`);
        const description = textOf(body, "description");
        state.namespaces.push({ id: name, description, resources: [], infrastructures: [] });
        state.save();
        return ok({ id: name, name, description });
      },
    },
    {
      method: "GET",
      path: "/ns",
      handle: () =>
        ok({ ns: state.namespaces.map(({ id, description }) => ({ id, name: id, description })) }),
    },
    {
      method: "GET",
      path: "/ns/:ns",
      handle: ({ params }) => {
        const found = state.namespace(params["ns"] ?? "");
        return ok({ id: found?.id, name: found?.id, description: found?.description });
      },
    },
    {
      method: "DELETE",
      path: "/ns/:ns",
      handle: ({ params }) => {
        const found = state.namespace(params["ns"] ?? "");
        if (found !== undefined && found.resources.length + found.infrastructures.length > 0)
          throw new Refusal(
            400,
            `Cannot delete NS ${found.id}, which is not empty. There exists at least one MCIS or one of resources.`,
          );
        state.namespaces.splice(
          state.namespaces.findIndex((each) => each === found),
          1,
        );
        state.save();
        return ok({ message: `The ns ${params["ns"]} has been deleted` });
      },
    },
    {
      method: "GET",
      path: "/checkNs/:name",
      handle: ({ params }) => {
        const exists = state.namespace(params["name"] ?? "") !== undefined;
        return ok(isEra ? { exists } : exists);
      },
    },
  ];
}

function unknown(isEra: boolean, words: string): Refusal {
  return isEra ? new Refusal(404, JSON.stringify({ message: words }), true) : new Refusal(500, words);
}
