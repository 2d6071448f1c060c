import type { FakeClouds } from "./clouds";
import { ok, type Asked, type Route } from "./router";
import type { State, StoredNamespace, StoredResource } from "./state";
import { Refusal, type Wire } from "./wire";

type Rule = StoredResource["rules"][number];

/** Routes that add rules to a security group and remove them. */
export function ruleRoutes(state: State, { connections }: FakeClouds, wire: Wire): Route[] {
  const path = "/ns/:ns/resources/securityGroup/:id/rules";
  const change = (
    { params, body }: Asked,
    next: (found: readonly Rule[], named: readonly Rule[]) => Rule[],
  ) => {
    const namespace = state.namespace(params["ns"] ?? "") as StoredNamespace;
    const found = state.resource(namespace.id, "securityGroup", params["id"] ?? "");
    if (found === undefined) throw wire.missing("securityGroup", params["id"] ?? "", "delete", "");
    const changed = { ...found, rules: next(found.rules, wire.readResource("securityGroup", body).rules) };
    namespace.resources = namespace.resources.map((each) => (each === found ? changed : each));
    state.save();
    return wire.showResource(changed, { namespace, connections }, []);
  };
  return [
    {
      method: "POST",
      path,
      handle: (asked) => {
        const shown = change(asked, (found, named) => {
          if (named.some((rule) => found.some((other) => isSame(rule, other))))
            throw new Refusal(
              500,
              `One of submitted firewall rules already exists in the SG ${asked.params["id"] ?? ""}.`,
            );
          return [...found, ...named];
        });
        return ok(wire.showRuleChange(shown, "added"), wire.created("securityGroup"));
      },
    },
    {
      method: "DELETE",
      path,
      handle: (asked) => {
        const shown = change(asked, (found, named) => {
          if (!named.every((rule) => found.some((other) => isSame(rule, other))))
            throw new Refusal(
              500,
              `Any of submitted firewall rules does not exist in the SG ${asked.params["id"] ?? ""}.`,
            );
          return found.filter((rule) => !named.some((other) => isSame(rule, other)));
        });
        return ok(wire.showRuleChange(shown, "deleted"));
      },
    },
  ];
}

function isSame(one: Rule, other: Rule): boolean {
  const key = ({ from, to, protocol, direction, cidr }: Rule) =>
    [from, to, protocol, direction, cidr].join(" ").toLowerCase();
  return key(one) === key(other);
}
