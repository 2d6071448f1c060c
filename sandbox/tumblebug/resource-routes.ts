import { randomBytes } from "node:crypto";
import { generateKey } from "../../lib/ssh/generated-key";
import { BAD_NAME, NAME } from "./cloud-routes";
import type { FakeClouds } from "./clouds";
import { ok, type Asked, type Route } from "./router";
import {
  newUid,
  RESOURCE_KINDS,
  type State,
  type StoredNamespace,
  type StoredResource,
  type StoredResourceKind,
} from "./state";
import { Refusal, textOf, type Body, type Wire } from "./wire";

const CIDR = /^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/;

/** Routes for the five kinds of resources that VMs use. */
export function resourceRoutes(state: State, clouds: FakeClouds, wire: Wire): Route[] {
  const isInfra = wire.generation === "infra";
  const namespaceOf = ({ params }: Asked) => state.namespace(params["ns"] ?? "") as StoredNamespace;
  return RESOURCE_KINDS.flatMap((kind): Route[] => {
    const folder = `/ns/:ns/resources/${kind}`;
    const show = (namespace: StoredNamespace, resource: StoredResource) =>
      wire.showResource(
        resource,
        { namespace, connections: clouds.connections },
        usersOf(namespace, resource, wire),
      );
    const list: Route = {
      method: "GET",
      path: folder,
      handle: (asked) => {
        const namespace = namespaceOf(asked);
        const found = namespace.resources.filter((each) => each.kind === kind);
        return asked.query.get("option") === "id"
          ? ok({ output: found.map(({ id }) => id) })
          : ok({ [kind]: found.map((each) => show(namespace, each)) });
      },
    };
    return [
      // the newer generation has no list of specs
      ...(isInfra && kind === "spec" ? [] : [list]),
      {
        method: "GET",
        path: `${folder}/:id`,
        handle: (asked) => {
          const namespace = namespaceOf(asked);
          const id = asked.params["id"] ?? "";
          const found = state.resource(namespace.id, kind, id);
          // in the newer generation an image that was registered in a namespace is listed, but never found
          if (found === undefined || (isInfra && kind === "image"))
            throw wire.missing(kind, id, "read", `/ns/${namespace.id}/resources/${kind}`);
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
        handle: (asked) => {
          const namespace = namespaceOf(asked);
          const action = asked.query.get("action") ?? "";
          const made = make(state, clouds, wire, namespace, kind, asked.body, action);
          // for an existing spec the response is that of a creation, but the record is unchanged
          if (state.resource(namespace.id, kind, made.id) === undefined) namespace.resources.push(made);
          state.save();
          return ok(show(namespace, made), wire.created(kind));
        },
      },
      {
        method: "DELETE",
        path: `${folder}/:id`,
        handle: (asked) => {
          const namespace = namespaceOf(asked);
          const id = asked.params["id"] ?? "";
          const found = state.resource(namespace.id, kind, id);
          if (found === undefined)
            throw wire.missing(kind, id, "delete", `/ns/${namespace.id}/resources/${kind}`);
          const isForced = asked.query.get("force") === "true" || asked.query.get("action") === "force";
          if (found.isGone === true && !isForced) throw goneInCloud(namespace, found, wire);
          if (!isForced) refuseWhenUsed(namespace, found, wire, clouds);
          if (kind === "vNet" && isInfra && !asked.query.has("action"))
            throw new Refusal(
              500,
              `cannot delete vNet (${id}): has ${found.subnets.length} subnet(s); use action=withSubnets or action=force`,
            );
          // the newer generation reports that an image is deleted, but keeps it
          if (!isInfra || kind !== "image")
            namespace.resources = namespace.resources.filter((each) => each !== found);
          state.save();
          return ok({
            message:
              isInfra && kind === "vNet"
                ? `the vNet (${id}) has been deleted`
                : `The ${kind} ${id} has been deleted`,
          });
        },
      },
    ];
  });
}

/** Returns the error of a deletion when only the server's record is left. */
function goneInCloud({ id: namespace }: StoredNamespace, found: StoredResource, wire: Wire): Refusal {
  const { kind, id, uid, connection } = found;
  const word = { vNet: "vpc", securityGroup: "sg", sshKey: "keypair", image: "image", spec: "spec" }[kind];
  const words =
    wire.generation === "mcis"
      ? `[${connection}:${word}:${namespace}-${id}] does not exist!`
      : `${word} '${uid}' does not exist in connection '${connection}'`;
  return new Refusal(500, wire.relay(words, `${word}/${uid}`));
}

function make(
  state: State,
  clouds: FakeClouds,
  wire: Wire,
  namespace: StoredNamespace,
  kind: StoredResourceKind,
  body: Body,
  action: string,
): StoredResource {
  const isInfra = wire.generation === "infra";
  const wanted = wire.readResource(kind, body);
  if (!NAME.test(textOf(body, "name"))) throw wire.invalid(BAD_NAME);
  const isThere = state.resource(namespace.id, kind, wanted.id) !== undefined;
  if (isThere && !(isInfra && kind === "spec")) throw wire.existing(kind, wanted.id, namespace.id);
  const connection = clouds.connection(wanted.connection);
  if (connection === undefined)
    throw isInfra
      ? wire.missing("connection", wanted.connection, "read", "")
      : new Refusal(500, wire.relay(`${wanted.connection}: does not exist!`, "connectionconfig"));
  if (kind === "image" && !["registerWithInfo", "registerWithId"].includes(action))
    throw new Refusal(500, "You must specify: option=registerWithInfo or option=registerWithId");
  const image = clouds.image(wanted.cloudName);
  if (kind === "image" && action === "registerWithId" && image === undefined)
    throw wire.notInCloud("image", wanted.cloudName, "register");
  if (kind === "securityGroup" && state.resource(namespace.id, "vNet", wanted.vNet) === undefined)
    throw new Refusal(500, `Failed to get the ${isInfra ? "" : "Tb"}VNetInfo ${wanted.vNet}.`);
  if (kind === "vNet") checkVNet(wire, wanted, `${connection.provider}-${connection.region}`);
  const spec = clouds.spec(wanted.cloudName);
  if (kind === "spec" && spec === undefined) throw wire.notInCloud("spec", wanted.cloudName, "register");
  const uid = newUid();
  const pair = kind === "sshKey" ? generateKey({ comment: wanted.name }) : { private: "", public: "" };
  return {
    ...wanted,
    kind,
    uid,
    cloudId: isInfra ? uid : `${namespace.id}-${wanted.id}-${randomBytes(10).toString("hex")}`,
    createdTime: new Date().toISOString(),
    publicKey: pair.public.trim(),
    privateKey: pair.private,
    vcpus: spec?.vcpus ?? 0,
    mebibytes: spec?.mebibytes ?? 0,
    guestOs: wanted.guestOs || (isInfra ? (image?.guestOs ?? "") : ""),
  };
}

/** The newer generation validates its input. */
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

/** Returns the VMs in the cloud that use an object. */
function usersOf(namespace: StoredNamespace, { kind, id }: StoredResource, wire: Wire): string[] {
  return namespace.infrastructures.flatMap((infrastructure) =>
    infrastructure.machines
      .filter((machine) => machine.isMade && !machine.hasEnded)
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
      .map(
        (machine) =>
          `/ns/${namespace.id}/${wire.infrastructure}/${infrastructure.id}/${wire.machine}/${machine.id}`,
      ),
  );
}

/** The newer server rejects a deletion based on its own records; with the older one only the cloud does. */
function refuseWhenUsed(
  namespace: StoredNamespace,
  resource: StoredResource,
  wire: Wire,
  { refusesInUse }: FakeClouds,
): void {
  const { kind, id, cloudId, subnets } = resource;
  if (!["vNet", "securityGroup", "sshKey"].includes(kind)) return;
  const users = usersOf(namespace, resource, wire);
  if (wire.generation === "infra") {
    if (users.length === 0) return;
    throw new Refusal(
      500,
      kind === "vNet"
        ? `cannot delete subnet (${subnets[0]?.name ?? ""}): currently referenced by VMs; use action=force`
        : `cannot delete ${kind} '${id}': still referenced by ${users.length} object(s): [${users.join(" ")}]`,
    );
  }
  const groups = namespace.resources.filter(
    (each) => kind === "vNet" && each.kind === "securityGroup" && each.vNet === id,
  );
  if (kind === "sshKey" || !refusesInUse || users.length + groups.length === 0) return;
  throw new Refusal(500, wire.relay(`DependencyViolation: ${cloudId} has a dependent object`, kind));
}
