import { randomBytes } from "node:crypto";
import { generateKey } from "../../clients/ssh/generated-key";
import { BAD_NAME, NAME } from "./cloud-routes";
import type { PretendedClouds } from "./clouds";
import { ok, type Route } from "./router";
import {
  RESOURCE_KINDS,
  type State,
  type StoredNamespace,
  type StoredResource,
  type StoredResourceKind,
} from "./state";
import { Refusal, textOf, type Body, type Wire } from "./wire";

const CIDR = /^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/;

/** The five kinds of objects that VMs are made from. */
export function resourceRoutes(state: State, clouds: PretendedClouds, wire: Wire): Route[] {
  const namespaceOf = (params: Readonly<Record<string, string>>) =>
    state.namespace(params["ns"] ?? "") as StoredNamespace;
  return RESOURCE_KINDS.flatMap((kind): Route[] => {
    const folder = `/ns/:ns/resources/${kind}`;
    const show = (namespace: StoredNamespace, resource: StoredResource) =>
      wire.showResource(resource, namespace.id, usersOf(namespace, resource));
    return [
      {
        method: "GET",
        path: folder,
        handle: ({ params, query }) => {
          const namespace = namespaceOf(params);
          const found = namespace.resources.filter((each) => each.kind === kind);
          return query.get("option") === "id"
            ? ok({ output: found.map(({ id }) => id) })
            : ok({ [kind]: found.map((each) => show(namespace, each)) });
        },
      },
      {
        method: "GET",
        path: `${folder}/:id`,
        handle: ({ params }) => {
          const namespace = namespaceOf(params);
          const found = state.resource(namespace.id, kind, params["id"] ?? "");
          if (found === undefined) throw wire.missing(kind, params["id"] ?? "", "read");
          return ok(show(namespace, found));
        },
      },
      {
        method: "GET",
        path: `/ns/:ns/checkResource/${kind}/:id`,
        handle: ({ params }) =>
          ok({ exists: state.resource(params["ns"] ?? "", kind, params["id"] ?? "") !== undefined }),
      },
      {
        method: "POST",
        path: folder,
        handle: ({ params, query, body }) => {
          const namespace = namespaceOf(params);
          const made = make(state, clouds, wire, namespace, kind, body, query.get("action") ?? "");
          namespace.resources.push(made);
          state.save();
          return ok(show(namespace, made), wire.created(kind));
        },
      },
      {
        method: "DELETE",
        path: `${folder}/:id`,
        handle: ({ params, query }) => {
          const namespace = namespaceOf(params);
          const id = params["id"] ?? "";
          const found = state.resource(namespace.id, kind, id);
          if (found === undefined) throw wire.missing(kind, id, "delete");
          if (query.get("force") !== "true") refuseWhenUsed(namespace, found, wire);
          if (kind === "vNet" && wire.generation === "infra" && !query.has("action"))
            throw new Refusal(
              500,
              `cannot delete vNet (${id}): has ${found.subnets.length} subnet(s); use action=withSubnets or action=force`,
            );
          namespace.resources = namespace.resources.filter((each) => each !== found);
          state.save();
          return ok({ message: `The ${kind} ${id} has been deleted` });
        },
      },
    ];
  });
}

function make(
  state: State,
  clouds: PretendedClouds,
  wire: Wire,
  namespace: StoredNamespace,
  kind: StoredResourceKind,
  body: Body,
  action: string,
): StoredResource {
  const wanted = wire.readResource(kind, body);
  if (!NAME.test(textOf(body, "name"))) throw wire.invalid(BAD_NAME);
  if (state.resource(namespace.id, kind, wanted.id) !== undefined)
    throw wire.existing(kind, wanted.id, namespace.id);
  const connection = clouds.connection(wanted.connection);
  if (connection === undefined)
    throw wire.relayed(`connection config '${wanted.connection}' does not exist!`);
  if (kind === "image" && !["registerWithInfo", "registerWithId"].includes(action))
    throw new Refusal(500, "You must specify: option=registerWithInfo or option=registerWithId");
  if (kind === "image" && action === "registerWithId" && clouds.image(wanted.cloudName) === undefined)
    throw wire.relayed(`${wanted.cloudName}: image not found`);
  if (kind === "securityGroup" && state.resource(namespace.id, "vNet", wanted.vNet) === undefined)
    throw wire.invalid(`Failed to find vNet ${wanted.vNet}`);
  if (kind === "vNet") checkVNet(wire, wanted, `${connection.provider}-${connection.region}`);
  const spec = clouds.spec(wanted.cloudName);
  if (kind === "spec" && spec === undefined) throw wire.relayed(`${wanted.cloudName}: spec not found`);
  const uid = randomBytes(10).toString("hex");
  const pair = kind === "sshKey" ? generateKey({ comment: wanted.name }) : { private: "", public: "" };
  return {
    ...wanted,
    kind,
    uid,
    cloudId: `${kind.toLowerCase()}-${uid.slice(0, 8)}`,
    publicKey: pair.public.trim(),
    privateKey: pair.private,
    vcpus: spec?.vcpus ?? 0,
    mebibytes: spec?.mebibytes ?? 0,
    guestOs: wanted.guestOs || (clouds.image(wanted.cloudName)?.guestOs ?? ""),
  };
}

/** Today's generation looks at what it is given. */
function checkVNet(
  wire: Wire,
  { cidr, subnets, connection }: Pick<StoredResource, "cidr" | "subnets" | "connection">,
  regular: string,
): void {
  if (wire.generation === "mcis") return;
  if (connection !== regular)
    throw wire.invalid(
      `the connection name must be {provider}-{region}, and ${connection} is not ${regular}`,
    );
  if (subnets.length === 0) throw wire.invalid("at least one subnet is required");
  for (const each of [cidr, ...subnets.map((subnet) => subnet.cidr)])
    if (!CIDR.test(each)) throw wire.invalid(`invalid CIDR address: ${each}`);
}

/** The VMs and security groups that need an object. */
function usersOf(namespace: StoredNamespace, { kind, id }: StoredResource): string[] {
  const machines = namespace.infrastructures.flatMap((infrastructure) =>
    infrastructure.machines
      .filter(({ status }) => status !== "Terminated" && status !== "Failed")
      .filter(
        (machine) =>
          ({
            vNet: machine.vNet === id,
            securityGroup: machine.securityGroups.includes(id),
            sshKey: machine.sshKey === id,
            image: machine.image === id,
            spec: machine.spec === id,
          })[kind],
      )
      .map((machine) => `/ns/${namespace.id}/infra/${infrastructure.id}/node/${machine.id}`),
  );
  const groups =
    kind === "vNet"
      ? namespace.resources
          .filter((each) => each.kind === "securityGroup" && each.vNet === id)
          .map((each) => `/ns/${namespace.id}/resources/securityGroup/${each.id}`)
      : [];
  return [...machines, ...groups];
}

/** The cloud refuses in both generations; today's server does it before it asks the cloud. */
function refuseWhenUsed(namespace: StoredNamespace, resource: StoredResource, wire: Wire): void {
  if (!["vNet", "securityGroup", "sshKey"].includes(resource.kind)) return;
  if (resource.kind === "sshKey" && !wire.checksAssociations) return;
  const users = usersOf(namespace, resource);
  if (users.length === 0) return;
  throw wire.checksAssociations
    ? new Refusal(500, ` [Failed] ${resource.id} Associated with [${users.join(", ")}]`)
    : wire.relayed(`DependencyViolation: ${resource.cloudId} has a dependent object`);
}
